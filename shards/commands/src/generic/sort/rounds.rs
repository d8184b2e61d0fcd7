//! SORT over several shards. In the first round the owner of the key answers its elements; then every
//! shard says what BY and GET lead to among its keys; at last the owner of the destination stores. What is
//! told in a round says all that is needed from there on, so nothing is remembered in between.

use super::options::Options;
use super::order::Plan;
use super::pattern::Pattern;
use super::{NOT_NUMBERS, Word, answer, elements, look_up, store};
use crate::command::{Check, Wide};
use crate::context::{Args, Ctx};
use crate::lookup::{WRONG_KIND, WrongKind};
use resp::Reply;
use store::Kind;

pub(super) static SORTING: Wide = Wide { when, part, next };

/// What a round is about: the first byte of what is told in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Round {
    /// BY of all elements.
    Weigh = 1,
    /// GET of the chosen ones.
    Get = 2,
    /// The result goes to its place.
    Store = 3,
}

impl Round {
    fn of(told: &[u8]) -> Option<Round> {
        told.first().map(|byte| match byte {
            1 => Round::Weigh,
            2 => Round::Get,
            _ => Round::Store,
        })
    }

    /// What is told in it: the kind of the sorted value, and words.
    fn told(self, kind: Kind, words: &[Option<Word>]) -> Vec<u8> {
        let mut told = vec![self as u8];
        told.extend_from_slice(&with_kind(kind, words));
        told
    }
}

fn when(args: Args<'_>) -> bool {
    let mut unread = resp::Output::default();
    let mut reply = Reply::new(&mut unread, resp::Version::Resp2);
    Options::read(args, &mut reply).is_some_and(|options| options.leads_elsewhere())
}

fn part(ctx: &mut Ctx<'_>, args: Args<'_>, told: &[u8], out: &mut Vec<u8>) {
    let options = Options::again(args);
    let Some(round) = Round::of(told) else {
        if owns(ctx, args.get(1)) {
            match elements(ctx, args.get(1)) {
                Ok((kind, words)) => *out = with_kind(kind, &words.into_iter().map(Some).collect::<Vec<_>>()),
                // Shorter than anything else that is answered.
                Err(WrongKind) => out.push(0),
            }
        }
        return;
    };
    let (_, words) = kind_and_words(&told[1..]);
    match round {
        Round::Weigh => look_up_own(ctx, &words, options.by.as_slice(), out),
        Round::Get => look_up_own(ctx, &words, &options.gets, out),
        Round::Store => {
            let destination = options.store.expect("a result is stored where it was asked for");
            if owns(ctx, destination) {
                store(ctx, destination, words);
            }
        }
    }
}

fn owns(ctx: &Ctx<'_>, name: &[u8]) -> bool {
    spec::owner_of(spec::slot_of(name), ctx.seat.shards) == ctx.seat.shard
}

/// Answers what patterns lead to from elements, as far as it is found here: the number of the look-up,
/// among all of them, and the word.
fn look_up_own(ctx: &mut Ctx<'_>, elements: &[Option<Word>], patterns: &[Pattern<'_>], out: &mut Vec<u8>) {
    let pairs = elements.iter().flatten().flat_map(|element| patterns.iter().map(move |by| (element, by)));
    for (number, (element, pattern)) in pairs.enumerate() {
        let Pattern::Key(names) = pattern else { continue };
        let name = names.key(element);
        if owns(ctx, &name)
            && let Some(word) = look_up(ctx, &name, names.field)
        {
            out.extend_from_slice(&(number as u32).to_le_bytes());
            push_word(out, Some(&word));
        }
    }
}

/// All look-ups of a round, put together from what each shard has found.
fn gathered(elements: &[Option<Word>], patterns: &[Pattern<'_>], parts: &[&[u8]]) -> Vec<Option<Word>> {
    let own = |element: &Word, pattern: &Pattern<'_>| (*pattern == Pattern::Element).then(|| element.clone());
    let mut found: Vec<Option<Word>> = elements
        .iter()
        .flatten()
        .flat_map(|element| patterns.iter().map(move |pattern| own(element, pattern)))
        .collect();
    for part in parts {
        let mut rest = *part;
        while let Some((number, behind)) = rest.split_first_chunk::<4>() {
            rest = behind;
            found[u32::from_le_bytes(*number) as usize] = pop_word(&mut rest);
        }
    }
    found
}

fn next(_: &Check, args: Args<'_>, told: &[u8], parts: &[&[u8]], reply: &mut Reply<'_>) -> Option<Vec<u8>> {
    let options = Options::again(args);
    let Some(round) = Round::of(told) else {
        let elements = parts.iter().find(|part| !part.is_empty()).copied().unwrap_or_default();
        if elements == [0] {
            reply.error(WRONG_KIND);
            return None;
        }
        let (kind, words) = kind_and_words(elements);
        if Plan::new(&options, kind).by.is_some() {
            return Some(Round::Weigh.told(kind, &words));
        }
        return chosen(&options, kind, words, None, reply);
    };
    let (kind, words) = kind_and_words(&told[1..]);
    match round {
        Round::Weigh => {
            let weights = gathered(&words, options.by.as_slice(), parts);
            chosen(&options, kind, words, Some(weights), reply)
        }
        Round::Get => {
            let words = gathered(&words, &options.gets, parts);
            finished(&options, kind, words, reply)
        }
        Round::Store => {
            reply.integer(words.len() as i64);
            None
        }
    }
}

/// The elements are known with their weights.
fn chosen(
    options: &Options<'_>,
    kind: Kind,
    words: Vec<Option<Word>>,
    weights: Option<Vec<Option<Word>>>,
    reply: &mut Reply<'_>,
) -> Option<Vec<u8>> {
    let elements = words.into_iter().flatten().collect();
    let Ok(chosen) = Plan::new(options, kind).choose(elements, weights) else {
        reply.error(NOT_NUMBERS);
        return None;
    };
    let chosen: Vec<Option<Word>> = chosen.into_iter().map(Some).collect();
    if options.gets.is_empty() {
        return finished(options, kind, chosen, reply);
    }
    Some(Round::Get.told(kind, &chosen))
}

/// The result is known.
fn finished(
    options: &Options<'_>,
    kind: Kind,
    words: Vec<Option<Word>>,
    reply: &mut Reply<'_>,
) -> Option<Vec<u8>> {
    if options.store.is_some() {
        return Some(Round::Store.told(kind, &words));
    }
    answer(&words, reply);
    None
}

fn with_kind(kind: Kind, words: &[Option<Word>]) -> Vec<u8> {
    let mut bytes = vec![kind as u8];
    bytes.extend_from_slice(&(words.len() as u32).to_le_bytes());
    words.iter().for_each(|word| push_word(&mut bytes, word.as_ref()));
    bytes
}

fn kind_and_words(bytes: &[u8]) -> (Kind, Vec<Option<Word>>) {
    let kinds = [Kind::Set, Kind::SortedSet];
    let kind = kinds.into_iter().find(|kind| bytes.first() == Some(&(*kind as u8))).unwrap_or(Kind::List);
    let mut rest = bytes.get(5..).unwrap_or_default();
    let mut words = Vec::new();
    while !rest.is_empty() {
        words.push(pop_word(&mut rest));
    }
    (kind, words)
}

const NO_WORD: u32 = u32::MAX;

fn push_word(out: &mut Vec<u8>, word: Option<&Word>) {
    let length = word.map_or(NO_WORD, |word| word.len() as u32);
    out.extend_from_slice(&length.to_le_bytes());
    word.into_iter().for_each(|word| out.extend_from_slice(word));
}

fn pop_word(rest: &mut &[u8]) -> Option<Word> {
    let (length, behind) = rest.split_first_chunk::<4>().expect("a word has a length in front");
    let length = u32::from_le_bytes(*length);
    if length == NO_WORD {
        *rest = behind;
        return None;
    }
    let (word, behind) = behind.split_at(length as usize);
    *rest = behind;
    Some(word.to_vec())
}
