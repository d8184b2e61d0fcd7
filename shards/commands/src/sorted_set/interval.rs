//! The arguments of ZRANGE and its older relatives: a span, a direction, and a limit.

use super::span::{By, Span};
use crate::context::Args;
use crate::number;
use resp::Reply;
use std::ops::Range;
use store::SortedSetRef;

/// What the command's name says already.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// Where the first bound stands.
    pub(super) first: usize,
    /// By what; the arguments say it where it is not known.
    pub(super) by: Option<By>,
    /// From the end; likewise.
    pub(super) reverse: Option<bool>,
    /// Scores may be asked for.
    pub(super) shows_scores: bool,
}

/// What the arguments say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval<'a> {
    span: Span<'a>,
    /// From the highest entry downwards.
    pub(super) reverse: bool,
    /// Scores are asked for.
    pub(super) scores: bool,
    offset: i64,
    limit: i64,
}

impl<'a> Interval<'a> {
    /// `None` once they are refused.
    pub(super) fn read(args: Args<'a>, form: Form, reply: &mut Reply<'_>) -> Option<Interval<'a>> {
        let (mut by, mut reverse, mut scores) = (form.by, form.reverse, false);
        let (mut offset, mut limit) = (0, -1);
        let mut index = form.first + 2;
        while index < args.len() {
            if form.shows_scores && args.is(index, "WITHSCORES") {
                scores = true;
            } else if args.is(index, "LIMIT") && index + 2 < args.len() {
                offset = number::integer(args.get(index + 1), reply)?;
                limit = number::integer(args.get(index + 2), reply)?;
                index += 2;
            } else if form.reverse.is_none() && args.is(index, "REV") {
                reverse = Some(true);
            } else if by.is_none() && args.is(index, "BYLEX") {
                by = Some(By::Member);
            } else if by.is_none() && args.is(index, "BYSCORE") {
                by = Some(By::Score);
            } else {
                reply.error(number::SYNTAX);
                return None;
            }
            index += 1;
        }
        let (by, reverse) = (by.unwrap_or(By::Rank), reverse.unwrap_or(false));
        if limit != -1 && by == By::Rank {
            reply.error(
                "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX",
            );
            return None;
        }
        if scores && by == By::Member {
            reply.error("ERR syntax error, WITHSCORES not supported in combination with BYLEX");
            return None;
        }
        let (mut low, mut high) = (args.get(form.first), args.get(form.first + 1));
        if reverse && by != By::Rank {
            (low, high) = (high, low);
        }
        let span = Span::read(by, low, high, reply)?;
        Some(Interval { span, reverse, scores, offset, limit })
    }

    /// The ranks it means in a set, the limit applied.
    pub(super) fn ranks(&self, set: SortedSetRef<'_>) -> Range<u64> {
        let ranks = self.span.ranks(set, self.reverse);
        // An offset from before the beginning never arrives at it.
        let Ok(offset) = u64::try_from(self.offset) else { return 0..0 };
        let count = ranks.end - ranks.start;
        let skipped = offset.min(count);
        let left = u64::try_from(self.limit).map_or(count - skipped, |limit| limit.min(count - skipped));
        if self.reverse {
            let end = ranks.end - skipped;
            end - left..end
        } else {
            let start = ranks.start + skipped;
            start..start + left
        }
    }

    /// Visits the entries it means in a set, in its direction.
    pub(super) fn walk<'s>(
        &self,
        set: SortedSetRef<'s>,
    ) -> (usize, impl Iterator<Item = (store::Text<'s>, f64)> + use<'s>) {
        let ranks = self.ranks(set);
        let count = (ranks.end - ranks.start) as usize;
        let first = if self.reverse { ranks.end.wrapping_sub(1) } else { ranks.start };
        (count, set.walk(first, !self.reverse).take(count))
    }
}
