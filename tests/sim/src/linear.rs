//! Is there one order of all commands that explains every reply? A search after Wing and Gong (1993)
//! with Lowe's memory of visited states (2017), over the whole state of a few keys: strict
//! serializability. Commands of one connection keep their order. It knows nothing of shards.

use crate::held::Held;
use crate::model::{Act, State};
use crate::request::brief;
use resp::client::Value;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};

/// One command of a history.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    /// The connection it came by; each has a number of its own.
    pub process: usize,
    pub act: Act,
    pub db: usize,
    /// Step when it was sent, and the oldest clock that any shard then had, in milliseconds.
    pub sent: u64,
    pub sent_ms: i64,
    /// Step and newest clock when its reply was there.
    pub answered: u64,
    pub answered_ms: i64,
    /// `None`: the connection was lost before.
    pub reply: Option<Value>,
}

/// How a search ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    /// There is such an order.
    Order,
    /// There is none; where the longest attempt ended.
    None(String),
    /// The search was given up at its budget.
    Unknown,
}

/// States looked at before a search is given up.
const BUDGET: usize = 12_000;

/// Looks for an order of `ops`, which are sorted by `sent` within each process.
pub(crate) fn check(ops: &[Op], keys: usize) -> Found {
    let processes = ops.iter().map(|op| op.process + 1).max().unwrap_or(0);
    let mut lines: Vec<Vec<&Op>> = vec![Vec::new(); processes];
    for op in ops {
        lines[op.process].push(op);
    }
    lines.retain(|line| !line.is_empty());
    // Few of the commands that were lost have run and left a trace: those orders are tried first.
    let lost = ops.iter().filter(|op| op.reply.is_none()).count();
    let fewer = [0, 1, 2, 4].into_iter().filter(|lost_max| *lost_max < lost);
    if fewer.into_iter().any(|lost_max| search(&lines, keys, lost_max) == Found::Order) {
        return Found::Order;
    }
    search(&lines, keys, lost)
}

/// Looks for an order in which at most so many lost commands have run.
fn search(lines: &[Vec<&Op>], keys: usize, lost_max: usize) -> Found {
    let mut at = vec![0; lines.len()];
    let mut search = Search {
        must: lines.iter().map(|line| line.iter().filter(|op| op.reply.is_some()).count()).collect(),
        lines,
        lost_left: lost_max,
        seen: HashSet::new(),
        budget: BUDGET,
        best: (at.clone(), State::new(keys)),
    };
    match search.go(&mut at, State::new(keys)) {
        Some(true) => Found::Order,
        Some(false) => Found::None(search.tell()),
        None => Found::Unknown,
    }
}

struct Search<'a> {
    lines: &'a [Vec<&'a Op>],
    /// How many of each line were answered: those come first in it.
    must: Vec<usize>,
    /// How many lost commands may still run.
    lost_left: usize,
    seen: HashSet<u64>,
    budget: usize,
    /// The longest attempt, and the state there.
    best: (Vec<usize>, State),
}

impl Search<'_> {
    /// `Some(true)`: found; `Some(false)`: not from here; `None`: out of budget.
    fn go(&mut self, at: &mut Vec<usize>, state: State) -> Option<bool> {
        if at.iter().zip(&self.must).all(|(at, must)| at >= must) {
            return Some(true);
        }
        let mut hasher = Mix(0);
        (&*at, &state).hash(&mut hasher);
        if !self.seen.insert(hasher.finish()) {
            return Some(false);
        }
        self.budget = self.budget.checked_sub(1)?;
        if at.iter().sum::<usize>() > self.best.0.iter().sum() {
            self.best = (at.clone(), state.clone());
        }
        let choices = self.choices(at);
        // What fits here and changes nothing, here or later, may as well come here: it is in nobody's way.
        let idle = |line: &usize| {
            let op = self.lines[*line][at[*line]];
            if !op.reply.as_ref().is_some_and(|reply| op.act.is_idle(reply)) {
                return false;
            }
            let fits = |(reply, after): &(Value, State)| op.reply.as_ref() == Some(reply) && *after == state;
            outcomes(&state, op).iter().any(fits)
        };
        if let Some(line) = choices.iter().copied().find(idle) {
            at[line] += 1;
            let found = self.go(at, state);
            at[line] -= 1;
            return found;
        }
        for line in choices {
            let op = self.lines[line][at[line]];
            let lost = usize::from(op.reply.is_none());
            if lost > self.lost_left {
                continue;
            }
            self.lost_left -= lost;
            for (reply, after) in outcomes(&state, op) {
                if op.reply.as_ref().is_some_and(|seen| *seen != reply) {
                    continue;
                }
                at[line] += 1;
                let found = self.go(at, after);
                at[line] -= 1;
                if found != Some(false) {
                    return found;
                }
            }
            self.lost_left += lost;
        }
        Some(false)
    }

    /// The lines whose next command may come next: nothing may come before a command that was answered
    /// when it was sent.
    fn choices(&self, at: &[usize]) -> Vec<usize> {
        let next = |line: usize| self.lines[line].get(at[line]).copied();
        let horizon = (0..at.len())
            .filter_map(next)
            .filter(|op| op.reply.is_some())
            .map(|op| op.answered)
            .min()
            .unwrap_or(u64::MAX);
        let may = |line: &usize| next(*line).is_some_and(|op| op.sent <= horizon);
        let mut choices: Vec<usize> = (0..at.len()).filter(may).collect();
        choices.sort_by_key(|line| next(*line).map_or(u64::MAX, |op| op.answered));
        choices
    }

    /// Where the longest attempt ended.
    fn tell(&self) -> String {
        let (at, state) = &self.best;
        let depth: usize = at.iter().sum();
        let mut text = format!("after {depth} commands the state is {state:?}; next could be");
        for line in self.choices(at) {
            let op = self.lines[line][at[line]];
            let (reply, _) = &outcomes(state, op)[0];
            text += &format!("\n    {}, which would answer {}", describe(op), brief(reply));
        }
        text
    }
}

/// A quick hasher of numbers; states meet nobody who would choose collisions.
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.chunks(8).for_each(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        });
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0.rotate_left(23) ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ mixed >> 29;
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}

/// A command with its reply in words.
pub(crate) fn describe(op: &Op) -> String {
    let reply = op.reply.as_ref().map_or_else(|| "nothing".into(), brief);
    let (process, act, db) = (op.process, &op.act, op.db);
    let times = format!("{}-{} ({}-{} ms)", op.sent, op.answered, op.sent_ms, op.answered_ms);
    format!("{process}: {act:?} in {db} at {times} answered {reply}")
}

/// What a command may do from here: once for each way in which the keys it touches may have expired.
fn outcomes(state: &State, op: &Op) -> Vec<(Value, State)> {
    if matches!(op.act, Act::Exec { watches: true, .. }) && op.reply == Some(Value::Null) {
        return vec![(Value::Null, state.clone())];
    }
    let mut found = Vec::new();
    // A time that is set may lie between the clocks: then it may be past already, or not yet.
    let mut times = op.act.times();
    times.retain(|time| (op.sent_ms..op.answered_ms).contains(time));
    times.extend([op.sent_ms, op.answered_ms]);
    times.sort_unstable();
    times.dedup();
    for before in aged(state, op) {
        // What a lost command has taken is not known: it may be anything that is there.
        let choices = match &op.act {
            Act::Call(call) if call.takes_one() && op.reply.is_none() => before.members(&op.act, op.db),
            _ => Vec::new(),
        };
        let seen = op.reply.iter().chain(&choices).map(Some);
        let seen: Vec<Option<&Value>> =
            if op.reply.is_none() && choices.is_empty() { vec![None] } else { seen.collect() };
        for (time, seen) in times.iter().flat_map(|time| seen.iter().map(move |seen| (*time, *seen))) {
            let mut after = before.clone();
            let reply = after.apply(&op.act, op.db, time, seen);
            if !found.iter().any(|(other, state)| *other == reply && *state == after) {
                found.push((reply, after));
            }
        }
    }
    found
}

/// The states that a command may meet, by what may have expired in the places that it touches.
fn aged(state: &State, op: &Op) -> Vec<State> {
    let mut states = vec![state.clone()];
    let mut places = state.touched(&op.act, op.db);
    places.sort_unstable();
    places.dedup();
    for place in places {
        age_fields(&mut states, place, op);
        let Some(expiry) = state.expiry(place) else { continue };
        if expiry <= op.sent_ms {
            states.iter_mut().for_each(|state| state.expire(place));
        } else if expiry <= op.answered_ms {
            let mut gone = states.clone();
            gone.iter_mut().for_each(|state| state.expire(place));
            states.extend(gone);
        }
    }
    states
}

/// The same for fields of the hash in a place. A hash that has lost all of them in this way may be there
/// for a while yet.
fn age_fields(states: &mut Vec<State>, place: usize, op: &Op) {
    let Some(held) = states[0].held(place).filter(|held| matches!(held, Held::Hash(_))) else { return };
    let times = held.times(op.answered_ms);
    let later: Vec<i64> = times.into_iter().filter(|time| *time > op.sent_ms).collect();
    states.iter_mut().for_each(|state| state.pass_time(place, op.sent_ms));
    let young = states.clone();
    for time in later {
        let mut older = young.clone();
        older.iter_mut().for_each(|state| state.pass_time(place, time));
        states.extend(older);
    }
    let mut gone: Vec<State> =
        states.iter().filter(|state| state.held(place).is_some_and(Held::is_gone)).cloned().collect();
    gone.iter_mut().for_each(|state| state.expire(place));
    states.extend(gone);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(process: usize, act: Act, sent: u64, answered: u64, reply: Option<Value>) -> Op {
        Op { process, act, db: 0, sent, sent_ms: 0, answered, answered_ms: 0, reply }
    }

    fn set(key: usize, text: &str) -> Act {
        Act::MSet(vec![(key, text.into())])
    }

    fn ok() -> Option<Value> {
        Some(Value::Simple("OK".into()))
    }

    fn bulk(text: &str) -> Option<Value> {
        Some(Value::Bulk(text.into()))
    }

    #[test]
    fn overlapping_commands_may_take_either_order() {
        let history = [
            op(0, set(0, "a"), 0, 10, ok()),
            op(1, set(0, "b"), 5, 15, ok()),
            op(2, Act::Get(0), 20, 21, bulk("a")),
        ];
        assert_eq!(check(&history, 1), Found::Order);
    }

    #[test]
    fn what_was_answered_before_comes_before() {
        let history = [
            op(0, set(0, "a"), 0, 10, ok()),
            op(1, set(0, "b"), 11, 15, ok()),
            op(2, Act::Get(0), 20, 21, bulk("a")),
        ];
        assert!(matches!(check(&history, 1), Found::None(_)));
    }

    #[test]
    fn a_pipeline_keeps_its_order_for_others() {
        let history = [
            op(0, set(0, "1"), 0, 30, ok()),
            op(0, set(1, "1"), 0, 30, ok()),
            op(1, Act::Get(1), 5, 6, bulk("1")),
            op(1, Act::Get(0), 7, 8, Some(Value::Null)),
        ];
        assert!(matches!(check(&history, 2), Found::None(_)));
    }

    #[test]
    fn a_lost_command_has_run_or_not() {
        for reply in [bulk("a"), Some(Value::Null)] {
            let history = [op(0, set(0, "a"), 0, u64::MAX, None), op(1, Act::Get(0), 5, 6, reply)];
            assert_eq!(check(&history, 1), Found::Order);
        }
    }
}
