//! Settings that reach beyond the shards: carries out a change of directory, of the limit of clients, of
//! ports and addresses. All or nothing; the words of a refusal are Redis's. Knows no session.

use crate::limits;
use spec::Settings;
use std::path::{Path, PathBuf};

/// Carries out what the settings of these names ask for. An error is CONFIG SET's reply, and nothing
/// was changed.
pub fn apply(names: &[&'static str], settings: &Settings, shards: usize) -> Result<(), String> {
    let before = std::env::current_dir().ok();
    for name in names {
        let outcome = match *name {
            "dir" => enter(settings.value("dir").text()),
            "maxclients" => allow_clients(settings.live.maxclients, shards),
            _ => Ok(()),
        };
        if let Err(reason) = outcome {
            go_back(before.as_deref());
            return Err(refusal(name, &reason));
        }
    }
    Ok(())
}

/// CONFIG SET's error.
pub fn refusal(name: &str, reason: &str) -> String {
    format!("ERR CONFIG SET failed (possibly related to argument '{name}') - {reason}")
}

fn enter(directory: &str) -> Result<(), String> {
    std::env::set_current_dir(directory).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "No such file or directory".to_owned(),
        _ => error.to_string(),
    })
}

fn go_back(directory: Option<&Path>) {
    if let Some(directory) = directory.map(PathBuf::from) {
        // Where it is gone by now there is no way back, and nothing depends on it.
        let _ = std::env::set_current_dir(directory);
    }
}

fn allow_clients(maxclients: u32, shards: usize) -> Result<(), String> {
    let possible = limits::raise_descriptors(maxclients, shards)?;
    if possible >= u64::from(maxclients) {
        return Ok(());
    }
    Err(format!(
        "The operating system is not able to handle the specified number of clients, try with {possible}"
    ))
}
