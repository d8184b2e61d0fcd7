//! How SET, GETEX, SETEX and PSETEX say when a key expires. It does not know what they do besides.

use crate::context::Args;
use crate::number;
use resp::Reply;

/// In what a time is counted, and from when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Clock {
    /// Seconds from now.
    Seconds,
    /// Milliseconds from now.
    Milliseconds,
    /// Seconds since 1970.
    UnixSeconds,
    /// Milliseconds since 1970.
    UnixMilliseconds,
}

impl Clock {
    /// The clock of an option's word.
    fn of(word: &[u8]) -> Option<Clock> {
        const WORDS: [(&str, Clock); 4] = [
            ("EX", Clock::Seconds),
            ("PX", Clock::Milliseconds),
            ("EXAT", Clock::UnixSeconds),
            ("PXAT", Clock::UnixMilliseconds),
        ];
        WORDS.iter().find(|(name, _)| word.eq_ignore_ascii_case(name.as_bytes())).map(|(_, clock)| *clock)
    }

    /// Counted from 1970.
    pub(super) fn is_absolute(self) -> bool {
        matches!(self, Clock::UnixSeconds | Clock::UnixMilliseconds)
    }

    /// The unix time in milliseconds that `argument` names; `None` once it is refused. `command` is in
    /// small letters.
    pub(super) fn deadline(
        self,
        argument: &[u8],
        now: i64,
        command: &str,
        reply: &mut Reply<'_>,
    ) -> Option<i64> {
        let count = number::integer(argument, reply)?;
        let factor = match self {
            Clock::Seconds | Clock::UnixSeconds => 1000,
            Clock::Milliseconds | Clock::UnixMilliseconds => 1,
        };
        let origin = if self.is_absolute() { 0 } else { now };
        let deadline = (count > 0)
            .then(|| count.checked_mul(factor))
            .flatten()
            .and_then(|milliseconds| milliseconds.checked_add(origin));
        if deadline.is_none() {
            reply.error_fmt(format_args!("ERR invalid expire time in '{command}' command"));
        }
        deadline
    }
}

/// What the options say about the time to live.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lifetime {
    /// Nothing.
    Unsaid,
    /// KEEPTTL.
    Keep,
    /// PERSIST.
    Persist,
    /// The argument at `index` tells it.
    Given {
        /// How it counts.
        clock: Clock,
        /// Where the number is.
        index: usize,
    },
}

impl Lifetime {
    /// Reads the option at `index` that stands alone (`KEEPTTL`, `PERSIST`); `None` where another was
    /// said before.
    pub(super) fn alone(self, word: Lifetime) -> Option<Lifetime> {
        (self == Lifetime::Unsaid || self == word).then_some(word)
    }

    /// Reads the option at `index` with its number behind it; `None` where it is not one, lacks the
    /// number, or another was said before. The same one may come again: the last holds.
    pub(super) fn timed(self, args: Args<'_>, index: usize) -> Option<Lifetime> {
        let clock = Clock::of(args.get(index))?;
        let allowed = match self {
            Lifetime::Unsaid => true,
            Lifetime::Given { clock: before, .. } => before == clock,
            Lifetime::Keep | Lifetime::Persist => false,
        };
        (allowed && index + 1 < args.len()).then_some(Lifetime::Given { clock, index: index + 1 })
    }
}
