//! How the commands about the expiry of fields name times and fields. It does not know hashes.

use crate::context::Args;
use crate::number;
use resp::Reply;

/// The latest time of a field, in milliseconds since 1970: Redis keeps 46 bits.
const TIME_MAX: i64 = (1 << 46) - 1;

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
    pub(super) fn of(args: Args<'_>, index: usize) -> Option<Clock> {
        const WORDS: [(&str, Clock); 4] = [
            ("EX", Clock::Seconds),
            ("PX", Clock::Milliseconds),
            ("EXAT", Clock::UnixSeconds),
            ("PXAT", Clock::UnixMilliseconds),
        ];
        WORDS.iter().find(|(name, _)| args.is(index, name)).map(|(_, clock)| *clock)
    }

    /// Milliseconds of its unit, and whether it counts from now.
    fn unit(self) -> (i64, bool) {
        match self {
            Clock::Seconds => (1000, true),
            Clock::Milliseconds => (1, true),
            Clock::UnixSeconds => (1000, false),
            Clock::UnixMilliseconds => (1, false),
        }
    }

    /// The unix time in milliseconds that an argument names; `None` once it is refused. `command` is in
    /// small letters.
    pub(super) fn time(self, argument: &[u8], now: i64, command: &str, reply: &mut Reply<'_>) -> Option<i64> {
        let count = number::integer(argument, reply)?;
        if count < 0 {
            reply.error("ERR invalid expire time, must be >= 0");
            return None;
        }
        let (factor, relative) = self.unit();
        let time =
            count.checked_mul(factor).and_then(|time| time.checked_add(if relative { now } else { 0 }));
        let time = time.filter(|time| *time <= TIME_MAX);
        if time.is_none() {
            reply.error_fmt(format_args!("ERR invalid expire time in '{command}' command"));
        }
        time
    }

    /// How a time is told: what is left of it, or since 1970; parts of a unit count as one.
    pub(super) fn tell(self, time: i64, now: i64) -> i64 {
        let (factor, relative) = self.unit();
        let time = if relative { time - now } else { time };
        (time + factor - 1) / factor
    }
}

/// Reads `FIELDS numfields field ...` from the argument at `index` to the end; the index of the first
/// field, or `None` once it is refused. `no_number` is the error for a number that is none, or not above 0.
pub(super) fn read(args: Args<'_>, index: usize, no_number: &str, reply: &mut Reply<'_>) -> Option<usize> {
    if !args.is(index, "FIELDS") {
        reply.error("ERR Mandatory argument FIELDS is missing or not at the right position");
        return None;
    }
    let Some(count) = resp::parse_i64(args.get(index + 1)).filter(|count| *count > 0) else {
        reply.error(no_number);
        return None;
    };
    if count as u64 != args.len().saturating_sub(index + 2) as u64 {
        reply.error("ERR The `numfields` parameter must match the number of arguments");
        return None;
    }
    Some(index + 2)
}

/// The error for a number of fields that is none.
pub(super) const NOT_POSITIVE: &str = "ERR Number of fields must be a positive integer";
