//! DEBUG OBJECT: where a value is, and what it would take on disk.

use super::part;
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::generic::references;
use resp::Reply;
use spec::{Access, Keys};
use store::{Entry, Text};

pub(super) const NO_SUCH_KEY: &str = "ERR no such key";

pub(super) static OBJECT: Command =
    part("OBJECT", Run::Local(object)).arity(3).keys(&[Keys::at(2, Access::RO)]);

fn object(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (key, db, now) = (ctx.key(args.get(2)), ctx.db(), ctx.now);
    let live = ctx.live;
    let Some(entry) = ctx.store.find_untouched(db, key, now) else {
        reply.error(NO_SUCH_KEY);
        return;
    };
    // The key stands beside its value: its place is the entry's, and stays while that is changed in place.
    let place = entry.key().as_ptr().addr();
    let references = references(&entry, live);
    reply.simple(&format!(
        "Value at:0x{place:x} refcount:{references} encoding:{} serializedlength:{} lru:{} lru_seconds_idle:{}",
        entry.encoding(),
        serialized_bytes(&entry),
        entry.access(),
        entry.idle_s(now),
    ));
}

/// Bytes of a string in Redis's snapshot format, without compression.
fn serialized_bytes(entry: &Entry<'_>) -> usize {
    match entry.text() {
        Some(Text::Int(number)) => match number {
            -0x80..=0x7f => 2,
            -0x8000..=0x7fff => 3,
            -0x8000_0000..=0x7fff_ffff => 5,
            _ => 1 + resp::IntegerText::new(number).as_bytes().len(),
        },
        Some(Text::Bytes(bytes)) => match bytes.len() {
            length @ 0..=0x3f => 1 + length,
            length @ 0x40..=0x3fff => 2 + length,
            length => 5 + length,
        },
        None => 0,
    }
}
