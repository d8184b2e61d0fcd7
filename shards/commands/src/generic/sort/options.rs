//! What SORT is asked for. It knows words, not values.

use super::pattern::Pattern;
use crate::context::Args;
use crate::number::{self, SYNTAX};
use resp::Reply;

/// The arguments of SORT behind its key.
pub(super) struct Options<'a> {
    pub(super) by: Option<Pattern<'a>>,
    /// The BY pattern leads nowhere: the elements stay as they are.
    pub(super) unsorted: bool,
    /// How many elements are left out at the front.
    pub(super) offset: i64,
    /// How many are wanted; all, where negative.
    pub(super) count: i64,
    pub(super) gets: Vec<Pattern<'a>>,
    pub(super) descending: bool,
    pub(super) alpha: bool,
    pub(super) store: Option<&'a [u8]>,
}

impl<'a> Options<'a> {
    /// `None` once they are refused.
    pub(super) fn read(args: Args<'a>, reply: &mut Reply<'_>) -> Option<Options<'a>> {
        let read_only = args.is(0, "SORT_RO");
        let mut options = Options {
            by: None,
            unsorted: false,
            offset: 0,
            count: -1,
            gets: Vec::new(),
            descending: false,
            alpha: false,
            store: None,
        };
        let mut at = 2;
        while at < args.len() {
            let left = args.len() - at - 1;
            if args.is(at, "ASC") {
                options.descending = false;
            } else if args.is(at, "DESC") {
                options.descending = true;
            } else if args.is(at, "ALPHA") {
                options.alpha = true;
            } else if args.is(at, "LIMIT") && left >= 2 {
                options.offset = number::integer(args.get(at + 1), reply)?;
                options.count = number::integer(args.get(at + 2), reply)?;
                at += 2;
            } else if args.is(at, "STORE") && left >= 1 && !read_only {
                options.store = Some(args.get(at + 1));
                at += 1;
            } else if args.is(at, "BY") && left >= 1 {
                let pattern = args.get(at + 1);
                // Without a place for the element every weight would be the same.
                options.unsorted |= !pattern.contains(&b'*');
                options.by = Some(Pattern::of(pattern));
                at += 1;
            } else if args.is(at, "GET") && left >= 1 {
                options.gets.push(Pattern::of(args.get(at + 1)));
                at += 1;
            } else {
                reply.error(SYNTAX);
                return None;
            }
            at += 1;
        }
        Some(options)
    }

    /// The same of arguments that were checked before.
    pub(super) fn again(args: Args<'a>) -> Options<'a> {
        let mut unread = resp::Output::default();
        let mut reply = Reply::new(&mut unread, resp::Version::Resp2);
        Options::read(args, &mut reply).expect("the arguments were checked")
    }

    /// Whether other keys are needed than the sorted one.
    pub(super) fn leads_elsewhere(&self) -> bool {
        let leads = |pattern: &Pattern<'_>| matches!(pattern, Pattern::Key(_));
        self.store.is_some() || self.by.iter().any(leads) && !self.unsorted || self.gets.iter().any(leads)
    }
}
