//! EXEC over several shards, at home: it is planned stage by stage. In a stage each shard gets its share
//! of the commands in one parcel; a new stage begins where what comes depends on what shards have said:
//! behind a plan over several shards, and before what looks at more than its keys. All locks are taken
//! with the first stage and stay until the last.

use crate::actor::Shard;
use crate::outbox::{Now, Outbox};
use crate::parcel::{Chore, ConnId, Hop, Parcel, Part, PartKey, Share, Task};
use crate::planted::Bug;
use crate::pubsub::Running;
use crate::route::Place;
use crate::session::Session;
use crate::txn::multi::{Multi, Needs, Queued, is_about_data, speaks_of_session};
use crate::txn::works::{empty_part, push_argument};
use commands::{
    After, Args, Caller, Entry, Everywhere, Go, Home, HomeFn, Job, Run, SessionState, Spread, TopicKind,
    Transaction, Wide,
};
use resp::{Output, Reply, Version};

/// A transaction under way.
pub(super) struct Exec {
    pub multi: Box<Multi>,
    /// The next command to plan.
    pub next: usize,
    /// What is known of the client, in case it goes: its commands run nevertheless.
    pub state: SessionState,
    pub watch_round: u32,
    pub now: Now,
    /// Answers by command, as they come.
    pub replies: Vec<Output>,
    /// What this stage is to answer, in order.
    pub pending: Vec<Pending>,
    /// Parts of this stage.
    #[expect(clippy::vec_box, reason = "the box travels")]
    pub parts: Vec<Box<Part>>,
    /// Nothing has been sent yet.
    pub is_new: bool,
    /// The first stage only looks whether watched keys have changed.
    pub looks_first: bool,
    pub stages: u32,
    /// Seals are held.
    pub locks: bool,
    pub close: bool,
    /// Unix milliseconds before which it is not answered (DEBUG SLEEP).
    pub hold_until: i64,
    /// Messages that the client hears behind its answer.
    pub own: Vec<u8>,
}

/// A command of this stage.
pub(super) struct Pending {
    pub place: usize,
    pub caller: Caller,
    pub how: How,
}

/// How its answer is made of what shards say.
pub(super) enum How {
    /// One shard says it.
    One,
    /// Elements in the order of the keys.
    InKeyOrder,
    Sum,
    AllOk,
    /// A plan decides; with all its keys.
    Plan(Vec<PartKey>),
    /// A fold over all shards.
    Everywhere(&'static Everywhere),
    /// Rounds over all shards, with what was told in the last.
    Wide(&'static Wide, Vec<u8>),
}

/// How planning ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Planned {
    /// With a stage, or at the end.
    Stage,
    /// The house does a job first.
    Waits,
}

/// Whether a command was planned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// It was: on with the next.
    On,
    /// It was, and nothing else in this stage.
    Barrier,
    /// It was not: first the stage.
    StageFirst,
    /// It goes on when the house has done its job.
    Waits,
}

impl Exec {
    pub(super) fn args(&self, place: usize) -> (Queued, Args<'_>) {
        let queued = self.multi.commands[place];
        (queued, self.multi.args(queued))
    }

    fn has_tasks(&self) -> bool {
        self.parts.iter().any(|part| part.share.as_ref().is_some_and(|share| !share.tasks.is_empty()))
    }

    fn has_tasks_but(&self, what: Chore) -> bool {
        let shares = self.parts.iter().filter_map(|part| part.share.as_ref());
        shares.flat_map(|share| &share.tasks).any(|task| task.what != what)
    }

    fn share(&self, watch: bool) -> Box<Share> {
        let watch = watch.then_some(self.watch_round);
        Box::new(Share { now: self.now, watch, moved: false, tasks: Vec::new() })
    }

    /// Adds a task to a shard's share: arguments of the command by index, keys of it that are there.
    pub(super) fn add_task(
        &mut self,
        home: u16,
        shard: u16,
        place: usize,
        caller: Caller,
        what: Chore,
        arguments: impl IntoIterator<Item = usize>,
    ) -> &mut Task {
        let queued = self.multi.commands[place];
        let at = self.parts.iter().position(|part| part.shard == shard).unwrap_or_else(|| {
            let mut part = Box::new(empty_part(home, caller));
            // Who listens may have come since it was said what the transaction needs.
            let hop = if self.is_new { Hop::Exec } else { Hop::ExecOn };
            (part.shard, part.number, part.hop) = (shard, queued.number, hop);
            part.share = Some(self.share(false));
            self.parts.push(part);
            self.parts.len() - 1
        });
        let part = &mut self.parts[at];
        let first = part.spans.len() as u32;
        let args = self.multi.args(queued);
        arguments.into_iter().for_each(|index| push_argument(part, args.get(index)));
        let count = part.spans.len() as u32 - first;
        let tasks = &mut part.share.as_mut().expect("a part of EXEC has a share").tasks;
        tasks.push(Task {
            place: place as u32,
            number: queued.number,
            what,
            caller,
            first,
            count,
            until: 0,
            keys: Vec::new(),
            pieces: Vec::new(),
            orders: Vec::new(),
            told: Vec::new(),
        });
        tasks.last_mut().expect("it was just pushed")
    }

    pub(super) fn caller(&self, state: &SessionState) -> Caller {
        Caller {
            client: state.id,
            db: state.db,
            version: state.version,
            no_touch: state.no_touch,
            watch_round: self.watch_round,
        }
    }
}

impl Shard {
    /// Begins a transaction that cannot run at once on this shard.
    pub(super) fn start_exec<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        number: u16,
        multi: Box<Multi>,
        needs: Needs,
        out: &mut O,
    ) {
        let muted = self.is_muted(session);
        let ticket = self.ticket_only(conn, session, out);
        let caller = self.caller(session);
        let guards: Vec<u16> = session.guards.iter().map(|guard| guard.owner).collect();
        session.guards.clear();
        session.watch_round = session.watch_round.wrapping_add(1);
        let mut exec = Exec {
            replies: vec![Output::default(); multi.commands.len()],
            next: 0,
            state: session.state.clone(),
            watch_round: caller.watch_round,
            now: self.now,
            pending: Vec::new(),
            parts: Vec::new(),
            is_new: true,
            looks_first: false,
            stages: 0,
            locks: needs.whole || !needs.keys.is_empty(),
            close: false,
            hold_until: 0,
            own: Vec::new(),
            multi,
        };
        for shard in self.shards_of(&needs) {
            let mut part = self.home.part(shard, number, caller, Hop::Exec);
            part.keys = needs.keys.iter().filter(|key| key.owner == shard).copied().collect();
            part.whole = needs.whole;
            part.share = Some(exec.share(guards.contains(&shard)));
            exec.parts.push(part);
        }
        // With everything on one shard the look and the commands go in one hop.
        exec.looks_first = !guards.is_empty() && (exec.parts.len() > 1 || needs.at_home);
        let writes = exec.multi.flags.any(crate::pause::PAUSED_WRITES);
        let mut work = self.home.work(ticket, number, caller, muted);
        work.writes = writes;
        let name = self.home.insert(work);
        self.go_on_exec(name, Box::new(exec), Some(session), out);
    }

    fn shards_of(&self, needs: &Needs) -> Vec<u16> {
        let all = (0..self.shards).filter(|shard| needs.shards[*shard as usize]);
        let shards: Vec<u16> = all.collect();
        // It comes home by a part even if nothing is to be done elsewhere.
        if shards.is_empty() { vec![self.index] } else { shards }
    }

    /// Plans the next stage and sends it, or answers.
    pub(super) fn go_on_exec<O: Outbox>(
        &mut self,
        name: u64,
        mut exec: Box<Exec>,
        session: Option<&mut Session>,
        out: &mut O,
    ) {
        // A command over rounds has more of them to come.
        if !exec.looks_first && exec.pending.is_empty() {
            let conn = self.home.find(name).ticket.conn;
            let mut taken = if session.is_some() { None } else { self.sessions.take(conn) };
            let live = session.or(taken.as_deref_mut());
            let planned = match live {
                Some(session) => {
                    let planned = self.plan_stage(name, &mut exec, &mut session.state, out);
                    exec.state.clone_from(&session.state);
                    planned
                }
                None => {
                    let mut state = exec.state.clone();
                    state.closing = true;
                    let planned = self.plan_stage(name, &mut exec, &mut state, out);
                    exec.state = state;
                    planned
                }
            };
            if let Some(session) = taken {
                self.sessions.put(conn, session);
            }
            if planned == Planned::Waits {
                self.home.find(name).exec = Some(exec);
                return;
            }
        }
        if exec.is_new || exec.has_tasks() {
            self.send_stage(name, exec, out);
        } else {
            self.end_exec(name, exec, out);
        }
    }

    fn send_stage<O: Outbox>(&mut self, name: u64, mut exec: Box<Exec>, out: &mut O) {
        if self.topics.has_forgotten() {
            self.tell_forgotten(out);
        }
        let mut parts = std::mem::take(&mut exec.parts);
        parts.iter_mut().for_each(|part| part.work = name);
        let ordered = std::mem::take(&mut exec.is_new) && exec.locks && !self.planted(Bug::ExecUnordered);
        let work = self.home.find(name);
        work.exec = Some(exec);
        if ordered {
            work.parts = parts;
            self.home.staged.push_back(name);
            return;
        }
        work.away = parts.len();
        for part in parts {
            if part.shard == self.index {
                self.own.push_back(part);
            } else {
                self.send(part.shard, Parcel::Part(part), out);
            }
        }
    }

    fn plan_stage<O: Outbox>(
        &mut self,
        name: u64,
        exec: &mut Exec,
        state: &mut SessionState,
        out: &mut O,
    ) -> Planned {
        let catalog = self.catalog;
        while let Some(queued) = exec.multi.commands.get(exec.next).copied() {
            let entry = catalog.entry(queued.number);
            if self.has_unsaid() {
                let running = Running::of(self.home.find(name).ticket.conn, state.version);
                self.say(Some(running), out);
                exec.own.append(&mut self.post.own);
            }
            let step = match entry.command.run {
                Run::Publish(kind) => self.plan_publish(exec, state, kind),
                Run::Home(handler) => self.plan_home(name, exec, state, entry, handler, out),
                Run::Everywhere(everywhere) => {
                    self.plan_everywhere(name, exec, state, entry, everywhere, out)
                }
                Run::Transaction(Transaction::Unwatch) => {
                    Reply::new(&mut exec.replies[exec.next], state.version).ok();
                    self.count_exec_one(exec, exec.next);
                    Step::On
                }
                _ => self.plan_keys(exec, state, entry),
            };
            match step {
                Step::On => exec.next += 1,
                Step::Barrier => {
                    exec.next += 1;
                    break;
                }
                Step::StageFirst => break,
                Step::Waits => return Planned::Waits,
            }
        }
        Planned::Stage
    }

    /// A command that runs where the client is: at once, or behind what it may look at.
    fn plan_home<O: Outbox>(
        &mut self,
        name: u64,
        exec: &mut Exec,
        state: &mut SessionState,
        entry: &Entry,
        handler: HomeFn,
        out: &mut O,
    ) -> Step {
        if !speaks_of_session(entry) && exec.has_tasks() {
            return Step::StageFirst;
        }
        let place = exec.next;
        let mut answer = std::mem::take(&mut exec.replies[place]);
        let (_, args) = exec.args(place);
        let mut reply = Reply::new(&mut answer, state.version);
        let after = handler(&mut Home { session: state, house: self }, args, &mut reply);
        exec.replies[place] = answer;
        self.carry_out_asides(out);
        match after {
            After::Done => {}
            After::Close => exec.close = true,
            After::HoldUntil(time) => exec.hold_until = exec.hold_until.max(time),
            After::Work(job) => return self.wait_for_house(name, exec, job, out),
        }
        self.count_exec_one(exec, place);
        Step::On
    }

    fn plan_everywhere<O: Outbox>(
        &mut self,
        name: u64,
        exec: &mut Exec,
        state: &mut SessionState,
        entry: &Entry,
        everywhere: &'static Everywhere,
        out: &mut O,
    ) -> Step {
        // What changes settings or clients comes behind what was before, and before what follows.
        let alone = !is_about_data(entry);
        if alone && exec.has_tasks() {
            return Step::StageFirst;
        }
        let place = exec.next;
        let mut answer = Output::default();
        let (_, args) = exec.args(place);
        let mut reply = Reply::new(&mut answer, state.version);
        let go = match everywhere.prepare {
            Some(prepare) => prepare(&mut Home { session: state, house: self }, args, &mut reply),
            None => Go::On,
        };
        match go {
            Go::On => {}
            Go::Answered => {
                exec.replies[place] = answer;
                self.count_exec_one(exec, place);
                return Step::On;
            }
            Go::After(job) => return self.wait_for_house(name, exec, job, out),
        }
        let caller = exec.caller(state);
        self.add_everywhere(exec, caller, everywhere);
        if alone { Step::Barrier } else { Step::On }
    }

    fn add_everywhere(&mut self, exec: &mut Exec, caller: Caller, everywhere: &'static Everywhere) {
        let place = exec.next;
        let count = exec.multi.commands[place].count as usize;
        for shard in 0..self.shards {
            exec.add_task(self.index, shard, place, caller, Chore::Everywhere, 0..count);
        }
        exec.pending.push(Pending { place, caller, how: How::Everywhere(everywhere) });
    }

    /// A message comes behind all that was done before it: who hears it may look at once.
    fn plan_publish(&mut self, exec: &mut Exec, state: &SessionState, kind: TopicKind) -> Step {
        if exec.has_tasks_but(Chore::Publish) {
            return Step::StageFirst;
        }
        let (place, caller) = (exec.next, exec.caller(state));
        let (queued, args) = exec.args(place);
        let (count, mut shards) = (queued.count as usize, vec![self.index]);
        self.topics.shards_that_hear(kind, args.get(1), &mut shards);
        self.block.published.add(1);
        for shard in shards {
            exec.add_task(self.index, shard, place, caller, Chore::Publish, 0..count);
        }
        exec.pending.push(Pending { place, caller, how: How::Sum });
        Step::On
    }

    /// A command with keys, or one that could have some.
    fn plan_keys(&mut self, exec: &mut Exec, state: &SessionState, entry: &Entry) -> Step {
        let (place, caller, home) = (exec.next, exec.caller(state), self.index);
        let (queued, args) = exec.args(place);
        let count = queued.count as usize;
        if let Some(wide) = self.wide_of(entry, args) {
            return self.plan_wide(exec, caller, entry, wide);
        }
        let keys = match self.place_of(entry, args) {
            Place::One(owner) => {
                exec.add_task(home, owner, place, caller, Chore::Run, 0..count);
                exec.pending.push(Pending { place, caller, how: How::One });
                return Step::On;
            }
            Place::Several => {
                self.list_keys(entry, args);
                self.home.keys.clone()
            }
        };
        let before = self.reply.len();
        if !self.may_split(entry, args, &keys, caller) {
            exec.replies[place] = self.reply.split_off(before);
            self.count_exec_one(exec, place);
            return Step::On;
        }
        if matches!(entry.command.run, Run::Plan(_)) {
            for shard in owners(&keys) {
                let task = exec.add_task(home, shard, place, caller, Chore::Gather, 0..count);
                task.keys.extend(keys.iter().filter(|key| key.owner == shard));
            }
            exec.pending.push(Pending { place, caller, how: How::Plan(keys) });
            return Step::Barrier;
        }
        let how = match entry.command.spread {
            Spread::InKeyOrder => {
                for key in &keys {
                    let arguments = std::iter::once(0).chain(key.span as usize..key.until as usize);
                    let task = exec.add_task(home, key.owner, place, caller, Chore::Run, arguments);
                    task.keys.push(*key);
                }
                exec.pending.push(Pending { place, caller, how: How::InKeyOrder });
                return Step::On;
            }
            Spread::Sum => How::Sum,
            Spread::AllOk | Spread::None => How::AllOk,
        };
        for shard in owners(&keys) {
            let own = keys.iter().filter(|key| key.owner == shard);
            let arguments = own.flat_map(|key| key.span as usize..key.until as usize);
            exec.add_task(home, shard, place, caller, Chore::Run, std::iter::once(0).chain(arguments));
        }
        exec.pending.push(Pending { place, caller, how });
        Step::On
    }

    /// A command that needs keys it does not name: rounds over all shards.
    fn plan_wide(&mut self, exec: &mut Exec, caller: Caller, entry: &Entry, wide: &'static Wide) -> Step {
        let place = exec.next;
        let before = self.reply.len();
        let (_, args) = exec.args(place);
        self.list_keys(entry, args);
        let keys = self.home.keys.clone();
        if !self.may_split(entry, args, &keys, caller) {
            exec.replies[place] = self.reply.split_off(before);
            self.count_exec_one(exec, place);
            return Step::On;
        }
        self.add_round(exec, place, caller, wide, Vec::new());
        Step::Barrier
    }

    /// Adds a round to the stage, in which each shard is told the same.
    pub(super) fn add_round(
        &mut self,
        exec: &mut Exec,
        place: usize,
        caller: Caller,
        wide: &'static Wide,
        told: Vec<u8>,
    ) {
        let count = exec.multi.commands[place].count as usize;
        for shard in 0..self.shards {
            let task = exec.add_task(self.index, shard, place, caller, Chore::Round, 0..count);
            task.told.clone_from(&told);
        }
        exec.pending.push(Pending { place, caller, how: How::Wide(wide, told) });
    }

    /// The house has a job to do before the next command goes on; its outcome comes by the ticket.
    fn wait_for_house<O: Outbox>(&mut self, name: u64, exec: &mut Exec, job: Job, out: &mut O) -> Step {
        exec.replies[exec.next].clear();
        let ticket = self.home.find(name).ticket;
        self.home.after_jobs.push((ticket, name));
        out.order(job, Some(ticket));
        Step::Waits
    }

    /// The house has done it.
    pub(super) fn exec_after_job<O: Outbox>(&mut self, name: u64, outcome: &Result<(), String>, out: &mut O) {
        let Some(mut exec) = self.home.find(name).exec.take() else { return };
        let place = exec.next;
        let (queued, _) = exec.args(place);
        let caller = exec.caller(&exec.state);
        match (self.catalog.entry(queued.number).command.run, outcome) {
            (Run::Everywhere(everywhere), Ok(())) => {
                self.add_everywhere(&mut exec, caller, everywhere);
                exec.next += 1;
                // It stands alone in its stage.
                self.send_stage(name, exec, out);
                return;
            }
            (_, Ok(())) => Reply::new(&mut exec.replies[place], caller.version).ok(),
            (_, Err(text)) => Reply::new(&mut exec.replies[place], caller.version).error(text),
        }
        self.count_exec_one(&exec, place);
        exec.next += 1;
        self.go_on_exec(name, exec, None, out);
    }

    /// What handlers asked for on the side.
    pub(super) fn carry_out_asides<O: Outbox>(&mut self, out: &mut O) {
        for job in std::mem::take(&mut self.jobs) {
            out.order(job, None);
        }
        for killed in std::mem::take(&mut self.kills) {
            out.close(killed, false);
        }
    }

    /// Counts a command that has its answer; one that says nothing keeps its place in the array.
    pub(super) fn count_exec_one(&mut self, exec: &Exec, place: usize) {
        let (queued, _) = exec.args(place);
        self.count_answer(queued.number, &exec.replies[place]);
    }
}

/// What stands for an answer that says nothing.
pub(super) fn nothing(version: Version) -> Output {
    let mut bytes = Output::default();
    Reply::new(&mut bytes, version).null();
    bytes
}

/// The shards that own some of the keys, each once.
fn owners(keys: &[PartKey]) -> Vec<u16> {
    let mut owners: Vec<u16> = keys.iter().map(|key| key.owner).collect();
    owners.sort_unstable();
    owners.dedup();
    owners
}
