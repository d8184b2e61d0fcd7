//! What an operation's `user_data` says: its kind, and the link or listener it works for.
//! Knows nothing of the ring.

use port::LinkId;

/// Bits of a token that name the slot: 16 million links per core.
const SLOT_BITS: u32 = 24;
const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;
const KIND_SHIFT: u32 = 56;

/// The kinds of operations a ring carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Multishot receive of a link.
    Receive = 1,
    /// The one send in flight of a link.
    Send,
    /// Cancels a link's receive.
    CancelReceive,
    /// Cancels a link's send.
    CancelSend,
    /// Watches for a link's hang-up.
    HangUp,
    /// Cancels that watch.
    CancelHangUp,
    /// Multishot accept; the slot is the listener's index.
    Accept,
    /// Cancels an accept.
    CancelAccept,
    /// Readability of a watched descriptor; the slot is its index.
    Watch,
    /// The pause after an accept that ran out of descriptors.
    Pause,
    /// Anything whose completion says nothing: the probe, the cancel-all at the end.
    Nothing,
}

impl Kind {
    const ALL: [Kind; 11] = [
        Kind::Receive,
        Kind::Send,
        Kind::CancelReceive,
        Kind::CancelSend,
        Kind::HangUp,
        Kind::CancelHangUp,
        Kind::Accept,
        Kind::CancelAccept,
        Kind::Watch,
        Kind::Pause,
        Kind::Nothing,
    ];
}

/// The token of an operation for `link`. Generation and slot travel whole, so that a late completion
/// for a reused slot is told apart.
#[inline]
pub(crate) fn pack(kind: Kind, link: LinkId) -> u64 {
    (kind as u64) << KIND_SHIFT | u64::from(link.generation) << SLOT_BITS | u64::from(link.slot) & SLOT_MASK
}

/// The token of an operation that serves no link but the `index`th of its kind.
#[inline]
pub(crate) fn pack_index(kind: Kind, index: usize) -> u64 {
    pack(kind, LinkId { slot: index as u32, generation: 0 })
}

/// What a completion's token says.
#[inline]
pub(crate) fn unpack(token: u64) -> (Kind, LinkId) {
    let kind = (token >> KIND_SHIFT) as usize;
    let kind = *Kind::ALL.get(kind.wrapping_sub(1)).unwrap_or(&Kind::Nothing);
    (kind, LinkId { slot: (token & SLOT_MASK) as u32, generation: (token >> SLOT_BITS) as u32 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_says_what_was_packed() {
        for kind in Kind::ALL {
            for (slot, generation) in [(0, 0), (1, u32::MAX), (SLOT_MASK as u32, 7)] {
                let link = LinkId { slot, generation };
                assert_eq!(unpack(pack(kind, link)), (kind, link));
            }
        }
        assert_eq!(unpack(0).0, Kind::Nothing);
        assert_eq!(unpack(u64::MAX).0, Kind::Nothing);
    }
}
