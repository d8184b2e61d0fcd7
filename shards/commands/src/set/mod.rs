//! Sets: members under a key, each once. Every command of Redis's set family, declared beside its handler.

mod answer;
mod combine;
#[cfg(test)]
mod model_tests;
mod random;
mod read;
mod scan;
mod store;
#[cfg(test)]
mod tests;
mod write;

use crate::command::Command;
use crate::context::Ctx;
use ::store::SetLimits;
use spec::{Access, Argument, ArgumentKind, Keys};

/// All of them.
pub(crate) static ALL: &[&Command] = &[
    &write::SADD,
    &read::SCARD,
    &answer::SDIFF,
    &store::SDIFFSTORE,
    &answer::SINTER,
    &answer::SINTERCARD,
    &store::SINTERSTORE,
    &read::SISMEMBER,
    &read::SMEMBERS,
    &read::SMISMEMBER,
    &write::SMOVE,
    &random::SPOP,
    &random::SRANDMEMBER,
    &write::SREM,
    &scan::SSCAN,
    &answer::SUNION,
    &store::SUNIONSTORE,
];

const MEMBER: Argument = Argument::new("member", ArgumentKind::String);
/// The key of a command that reads members.
const READS: &[Keys] = &[Keys::one(Access::RO.with(Access::ACCESS))];
/// The key of a command that only looks.
const LOOKS: &[Keys] = &[Keys::one(Access::RO)];

/// How far a set stays small.
fn limits(ctx: &Ctx<'_>) -> SetLimits {
    let bounds = &ctx.live.encodings;
    let size = |bound: u64| usize::try_from(bound).unwrap_or(usize::MAX);
    SetLimits {
        integers: size(bounds.set_max_intset_entries),
        members: size(bounds.set_max_listpack_entries),
        bytes: size(bounds.set_max_listpack_value),
    }
}
