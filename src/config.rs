//! Every setting once, and where values come from: defaults, then a file, then the environment, then
//! flags. Knows neither sockets nor shards: whoever acts on a setting reads it from `Config`.

pub mod addresses;
mod compatibility;
mod conf;
mod cores;
pub mod cpus;
mod durability;
mod encodings;
mod layers;
mod memory;
mod network;
mod operations;
mod replication;
mod rewrite;
mod toml;
mod trouble;

pub use layers::Config;
pub use rewrite::rewrite;
pub use trouble::{Place, Trouble};

use spec::setting::{Effect, Kind, Setting, Value};

/// Bounds that Redis takes from C's types.
const COUNT32: i64 = i32::MAX as i64;
const COUNT: i64 = i64::MAX;
const MAX: i64 = i64::MAX;
const SECONDS: Kind = Kind::Integer { min: 0, max: COUNT32 };

/// A part of the table under a title, as help texts and documents show it.
pub struct Section {
    /// What the settings are about.
    pub title: &'static str,
    /// The settings.
    pub settings: &'static [Setting],
}

/// The table in its parts.
pub const SECTIONS: &[Section] = &[
    Section { title: "Network", settings: network::GROUP },
    Section { title: "Cores and keyspace", settings: cores::GROUP },
    Section { title: "Memory", settings: memory::GROUP },
    Section { title: "Encodings", settings: encodings::GROUP },
    Section { title: "Files", settings: durability::GROUP },
    Section { title: "Operation", settings: operations::GROUP },
    Section { title: "Replication and cluster", settings: replication::GROUP },
    Section { title: "Compatibility", settings: compatibility::GROUP },
];

const TOTAL: usize = {
    let (mut total, mut section) = (0, 0);
    while section < SECTIONS.len() {
        total += SECTIONS[section].settings.len();
        section += 1;
    }
    total
};

/// The one table of settings.
pub static SETTINGS: &[Setting] = &JOINED;

static JOINED: [Setting; TOTAL] = {
    let mut joined = [SECTIONS[0].settings[0]; TOTAL];
    let (mut filled, mut section) = (0, 0);
    while section < SECTIONS.len() {
        let mut index = 0;
        while index < SECTIONS[section].settings.len() {
            joined[filled] = SECTIONS[section].settings[index];
            filled += 1;
            index += 1;
        }
        section += 1;
    }
    joined
};

/// Does a setting act, or is it accepted only? The compatibility document is made from this.
pub fn effect(setting: &Setting) -> Effect {
    setting.effect
}

/// A version such as `7.0.15`: three numbers.
fn version(value: &Value) -> Result<(), String> {
    let numbers: Vec<_> = value.text().split('.').map(str::parse::<u8>).collect();
    match numbers.as_slice() {
        [Ok(_), Ok(_), Ok(_)] => Ok(()),
        _ => Err("argument must be a version such as 7.0.15".into()),
    }
}

#[cfg(test)]
mod tests;
