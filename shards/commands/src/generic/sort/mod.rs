//! SORT and SORT_RO: the elements of a list, set or sorted set in order, by themselves or by other keys,
//! answered or stored. What is here is the same over one shard or many; `rounds` is about many.

mod options;
mod order;
mod pattern;
mod rounds;
#[cfg(test)]
mod tests;

use crate::command::{Check, Command, Run};
use crate::context::{Args, Ctx};
use crate::lookup::{self, WRONG_KIND, WrongKind};
use options::Options;
use pattern::Pattern;
use resp::Reply;
use spec::setting::Events;
use spec::{Access, Argument, ArgumentKind, Categories, Flags, Group, Keys, LastOption};
use store::{Detached, Entry, Item, Kind, Text};

const BY_GET_NOTES: &str = "For the optional BY/GET keyword. It is marked 'unknown' because the key names derive from the \
                            content of the key we sort";
const STORE_NOTES: &str = "For the optional STORE keyword. It is marked 'unknown' because the keyword can appear anywhere in \
                           the argument array";

static STORE: LastOption =
    LastOption { word: "STORE", from: 2, others: &[("LIMIT", 2), ("GET", 1), ("BY", 1)] };

const CATEGORIES: Categories =
    Categories::SET.with(Categories::SORTED_SET).with(Categories::LIST).with(Categories::DANGEROUS);

const COMPLEXITY: &str = "O(N+M*log(M)) where N is the number of elements in the list or set to sort, and M the number of \
                          returned elements. When the elements are not sorted, complexity is O(N).";

const LIMIT: &[Argument] =
    &[Argument::new("offset", ArgumentKind::Integer), Argument::new("count", ArgumentKind::Integer)];
const ORDER: &[Argument] = &[Argument::word("asc", "ASC"), Argument::word("desc", "DESC")];

const ARGUMENTS: [Argument; 6] = [
    Argument::key(),
    Argument::new("by-pattern", ArgumentKind::Pattern).token("BY").optional(),
    Argument::block("limit", LIMIT).token("LIMIT").optional(),
    Argument::new("get-pattern", ArgumentKind::Pattern).token("GET").multiple_token().optional(),
    Argument::one_of("order", ORDER).optional(),
    Argument::word("sorting", "ALPHA").optional(),
];

pub(super) static SORT: Command = Command::new("SORT", Group::Generic, Run::Local(sort))
    .arity(-2)
    .flags(Flags::WRITE.with(Flags::DENYOOM).with(Flags::MOVABLEKEYS))
    .categories(CATEGORIES)
    .keys(&[
        Keys::one(Access::RO.with(Access::ACCESS)),
        Keys::unknown(Access::RO.with(Access::ACCESS)).notes(BY_GET_NOTES),
        Keys::option(&STORE, Access::OW.with(Access::UPDATE)).notes(STORE_NOTES),
    ])
    .wide(&rounds::SORTING)
    .check(check)
    .summary("1.0.0", "Sorts the elements in a list, a set, or a sorted set, optionally storing the result.")
    .complexity(COMPLEXITY)
    .arguments(&[
        ARGUMENTS[0],
        ARGUMENTS[1],
        ARGUMENTS[2],
        ARGUMENTS[3],
        ARGUMENTS[4],
        ARGUMENTS[5],
        Argument::new("destination", ArgumentKind::Key).token("STORE").optional(),
    ]);

pub(super) static SORT_RO: Command = Command::new("SORT_RO", Group::Generic, Run::Local(sort))
    .arity(-2)
    .flags(Flags::READONLY.with(Flags::MOVABLEKEYS))
    .categories(CATEGORIES)
    .keys(&[
        Keys::one(Access::RO.with(Access::ACCESS)),
        Keys::unknown(Access::RO.with(Access::ACCESS)).notes(BY_GET_NOTES),
    ])
    .wide(&rounds::SORTING)
    .check(check)
    .summary("7.0.0", "Returns the sorted elements of a list, a set, or a sorted set.")
    .complexity(COMPLEXITY)
    .arguments(&ARGUMENTS);

/// What is said where a weight is no number.
const NOT_NUMBERS: &str = "ERR One or more scores can't be converted into double";

/// An element, or what a pattern leads to from it.
type Word = Vec<u8>;

fn check(_: &Check, args: Args<'_>, reply: &mut Reply<'_>) -> bool {
    Options::read(args, reply).is_some()
}

/// All in one go, where every key is on this shard.
fn sort(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(options) = Options::read(args, reply) else { return };
    let (kind, elements) = match elements(ctx, args.get(1)) {
        Ok(found) => found,
        Err(WrongKind) => return reply.error(WRONG_KIND),
    };
    let plan = order::Plan::new(&options, kind);
    let weights = plan.by.map(|by| look_up_all(ctx, &elements, &[by]));
    let Ok(chosen) = plan.choose(elements, weights) else {
        return reply.error(NOT_NUMBERS);
    };
    let words = if options.gets.is_empty() {
        chosen.into_iter().map(Some).collect()
    } else {
        look_up_all(ctx, &chosen, &options.gets)
    };
    match options.store {
        Some(destination) => {
            let count = words.len();
            store(ctx, destination, words);
            reply.integer(count as i64);
        }
        None => answer(&words, reply),
    }
}

/// The kind of a key's value and its elements; none, where the key is not there.
fn elements(ctx: &mut Ctx<'_>, name: &[u8]) -> Result<(Kind, Vec<Word>), WrongKind> {
    let key = ctx.key(name);
    let Some(entry) = lookup::read(ctx, key) else { return Ok((Kind::List, Vec::new())) };
    let kind = entry.kind();
    if !matches!(kind, Kind::List | Kind::Set | Kind::SortedSet) {
        return Err(WrongKind);
    }
    Ok((kind, items(&entry)))
}

fn items(entry: &Entry<'_>) -> Vec<Word> {
    let mut words = Vec::new();
    entry.each_item(&mut |item| match item {
        Item::Element(text) | Item::Scored(text, _) => words.push(bytes_of(text)),
        Item::Field(..) => unreachable!("a hash is not sorted"),
    });
    words
}

fn bytes_of(text: Text<'_>) -> Word {
    match text {
        Text::Bytes(bytes) => bytes.to_vec(),
        Text::Int(number) => resp::IntegerText::new(number).as_bytes().to_vec(),
    }
}

/// What each pattern leads to from each element, element by element.
fn look_up_all(ctx: &mut Ctx<'_>, elements: &[Word], patterns: &[Pattern<'_>]) -> Vec<Option<Word>> {
    let mut found = Vec::with_capacity(elements.len() * patterns.len());
    for element in elements {
        for pattern in patterns {
            found.push(match pattern {
                Pattern::Element => Some(element.clone()),
                Pattern::Nothing => None,
                Pattern::Key(names) => look_up(ctx, &names.key(element), names.field),
            });
        }
    }
    found
}

/// The string under a key, or a hash's field.
fn look_up(ctx: &mut Ctx<'_>, name: &[u8], field: Option<&[u8]>) -> Option<Word> {
    let (db, key, now) = (ctx.db(), ctx.key(name), ctx.now);
    let Some(field) = field else {
        return lookup::read(ctx, key)?.text().map(bytes_of);
    };
    let hash = ctx.store.read_hash(db, key, now, !ctx.caller.no_touch);
    let found = !matches!(hash, Ok(None));
    let value = hash.ok().flatten().and_then(|hash| hash.get(field)).map(bytes_of);
    ctx.looked_up(found, name);
    value
}

fn answer(words: &[Option<Word>], reply: &mut Reply<'_>) {
    reply.array(words.len());
    words.iter().for_each(|word| match word {
        Some(bytes) => reply.bulk(bytes),
        None => reply.null(),
    });
}

/// Puts the result in place of whatever is there; nothing at all, where it is empty.
fn store(ctx: &mut Ctx<'_>, destination: &[u8], words: Vec<Option<Word>>) {
    let (db, key, now) = (ctx.db(), ctx.key(destination), ctx.now);
    if words.is_empty() {
        if ctx.store.remove(db, key, now) {
            ctx.notify(Events::GENERIC, "del", destination);
            ctx.changed(1);
        }
        return;
    }
    let texts = words.iter().map(|word| Text::of(word.as_deref().unwrap_or_default()));
    let list = Detached::list_of(texts, ctx.live.encodings.list_max_listpack_size);
    ctx.store.attach(db, key, list);
    ctx.notify(Events::LIST, "sortstore", destination);
    ctx.changed(words.len() as u64);
}
