//! The end of the room for small entries: what would grow is refused before it, with an error, so that no
//! write meets it halfway. It knows which commands may grow, not what they do.

use crate::actor::Shard;
use crate::parcel::PartKey;
use commands::Entry;
use resp::{Reply, Version};

/// An argument needs a cell of no more than this; a longer value lives elsewhere.
const ARGUMENT_BYTES: usize = 1024;
/// Input of less than this cannot make the room short in one go.
const LOOK_BYTES: usize = 16 * 1024;
/// What is said instead.
const REFUSAL: &str = "OOM command not allowed: the shard of this key has no room for more keys and small values. Delete some, or use more shards.";

impl Shard {
    /// Looks whether room is short, where so many bytes of input are about to run.
    #[inline]
    pub(crate) fn look_at_room(&mut self, bytes: usize) {
        if bytes > LOOK_BYTES {
            self.short_of_room = !self.store.is_ample();
        }
    }

    /// Looks at the end of a tick, and tells the others: who divides a command over several shards must
    /// know before any part has run.
    pub(crate) fn tell_room(&mut self) {
        let short = !self.store.is_ample();
        self.short_of_room = short;
        if short != (self.block.room_short.read() > 0) {
            self.block.room_short.set(u64::from(short));
        }
    }

    /// Whether there is no room for a command of so many arguments; then it is answered with that.
    #[cold]
    pub(crate) fn lacks_room(&mut self, number: u16, arguments: usize, version: Version) -> bool {
        let entry = self.catalog.entry(number);
        // A little more than it needs: what only moves or renames must still find room.
        if !entry.grows || self.store.has_room(arguments * ARGUMENT_BYTES) {
            return false;
        }
        Reply::new(&mut self.reply, version).error(REFUSAL);
        true
    }

    /// The same for a command over several shards. It is refused earlier, because all of its parts run
    /// or none, and many may be under way.
    pub(crate) fn parts_lack_room(&mut self, entry: &Entry, keys: &[PartKey], version: Version) -> bool {
        let short = |key: &PartKey| self.blocks[key.owner as usize].room_short.read() > 0;
        if !entry.grows || !keys.iter().any(short) {
            return false;
        }
        Reply::new(&mut self.reply, version).error(REFUSAL);
        true
    }
}
