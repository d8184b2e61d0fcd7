//! Union, intersection and difference of entries, and how a client asks for them. It does not know keys.

use super::pool::Pool;
use crate::context::Args;
use crate::number;
use resp::Reply;
use store::{Item, Text};

/// What is made of the inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    Union,
    Intersection,
    Difference,
}

/// What becomes of the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Goes {
    /// It is the reply.
    Out,
    /// It is stored.
    Stored,
    /// It is counted.
    Counted,
}

/// What a member's scores become.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Aggregate {
    Sum,
    Least,
    Greatest,
}

/// An operation over several inputs.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    what: What,
    /// How many inputs there are.
    pub(super) inputs: usize,
    /// One for each input, or none.
    weights: Vec<f64>,
    aggregate: Aggregate,
    /// Scores are asked for.
    pub(super) scores: bool,
    /// Where counting ends; 0: it does not.
    limit: u64,
}

impl Operation {
    /// Reads `numkeys key [key ...]` and the options behind, the number being argument `at`; `None` once
    /// they are refused, for which the command's name is needed.
    pub(super) fn read(
        args: Args<'_>,
        at: usize,
        what: What,
        goes: Goes,
        name: &str,
        reply: &mut Reply<'_>,
    ) -> Option<Operation> {
        let inputs = number::integer(args.get(at), reply)?;
        if inputs < 1 {
            reply.error_fmt(format_args!("ERR at least 1 input key is needed for '{name}' command"));
            return None;
        }
        let inputs = usize::try_from(inputs).unwrap_or(usize::MAX);
        if inputs > args.len() - (at + 1) {
            reply.error(number::SYNTAX);
            return None;
        }
        let mut operation = Operation {
            what,
            inputs,
            weights: Vec::new(),
            aggregate: Aggregate::Sum,
            scores: false,
            limit: 0,
        };
        let mut index = at + 1 + inputs;
        while index < args.len() {
            index = operation.option(args, index, goes, reply)?;
        }
        Some(operation)
    }

    /// Reads the option at `index`; answers where the next one is.
    fn option(&mut self, args: Args<'_>, index: usize, goes: Goes, reply: &mut Reply<'_>) -> Option<usize> {
        let left = args.len() - index;
        let combines = self.what != What::Difference && goes != Goes::Counted;
        if combines && left > self.inputs && args.is(index, "WEIGHTS") {
            self.weights.clear();
            for weight in args.from(index + 1).take(self.inputs) {
                let Some(weight) = resp::parse_f64(weight) else {
                    reply.error("ERR weight value is not a float");
                    return None;
                };
                self.weights.push(weight);
            }
            return Some(index + 1 + self.inputs);
        }
        if combines && left >= 2 && args.is(index, "AGGREGATE") {
            self.aggregate = match args.get(index + 1) {
                word if word.eq_ignore_ascii_case(b"SUM") => Aggregate::Sum,
                word if word.eq_ignore_ascii_case(b"MIN") => Aggregate::Least,
                word if word.eq_ignore_ascii_case(b"MAX") => Aggregate::Greatest,
                _ => {
                    reply.error(number::SYNTAX);
                    return None;
                }
            };
            return Some(index + 2);
        }
        if goes == Goes::Out && args.is(index, "WITHSCORES") {
            self.scores = true;
            return Some(index + 1);
        }
        if goes == Goes::Counted && left >= 2 && args.is(index, "LIMIT") {
            let limit = resp::parse_i64(args.get(index + 1)).and_then(|limit| u64::try_from(limit).ok());
            if limit.is_none() {
                reply.error("ERR LIMIT can't be negative");
            }
            self.limit = limit?;
            return Some(index + 2);
        }
        reply.error(number::SYNTAX);
        None
    }

    /// What the operation makes of its inputs, in order.
    pub(super) fn work(&self, inputs: &[Pool]) -> Pool {
        let mut pool = Pool::default();
        for (turn, number) in self.order(inputs).into_iter().enumerate() {
            let weight = self.weights.get(number).copied().unwrap_or(1.0);
            // Of an intersection Redis asks the first input alone whether infinity times zero came out; the
            // others' are seen in the sum.
            let asks = turn == 0 || self.what != What::Intersection;
            for (member, score) in inputs[number].iter() {
                let score = score * weight;
                pool.push(Text::Bytes(member), if asks { or_zero(score) } else { score }, number);
            }
        }
        pool.merge(|group| {
            let (first, source) = group.next().expect("a group has a member");
            match self.what {
                What::Difference => (source == 0 && group.next().is_none()).then_some(first),
                What::Union => Some(group.fold(first, |sum, (score, _)| self.aggregate(sum, score))),
                What::Intersection => {
                    let mut seen = 1;
                    let all = group.fold(first, |sum, (score, _)| {
                        seen += 1;
                        self.aggregate(sum, score)
                    });
                    (seen == inputs.len()).then_some(all)
                }
            }
        });
        pool.sort();
        pool
    }

    /// In which order scores are put together: from the smallest input to the largest, as Redis does,
    /// which shows where sums are rounded. A difference begins with its first input.
    fn order(&self, inputs: &[Pool]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..inputs.len()).collect();
        if self.what != What::Difference {
            order.sort_by_key(|number| inputs[*number].len());
        }
        order
    }

    fn aggregate(&self, sum: f64, score: f64) -> f64 {
        match self.aggregate {
            // Infinities of both signs make zero.
            Aggregate::Sum => or_zero(sum + score),
            Aggregate::Least => sum.min(score),
            Aggregate::Greatest => sum.max(score),
        }
    }

    /// How many there are, as far as they are counted.
    pub(super) fn counted(&self, result: &Pool) -> u64 {
        let count = result.len() as u64;
        if self.limit == 0 { count } else { count.min(self.limit) }
    }
}

fn or_zero(score: f64) -> f64 {
    if score.is_nan() { 0.0 } else { score }
}

/// Takes an item of a sorted set or a set in: a member of a set has the score 1.
pub(super) fn take_in(pool: &mut Pool, item: Item<'_>) {
    match item {
        Item::Scored(member, score) => pool.push(member, score, 0),
        Item::Element(member) => pool.push(member, 1.0, 0),
        Item::Field(..) => unreachable!("a hash is no input"),
    }
}
