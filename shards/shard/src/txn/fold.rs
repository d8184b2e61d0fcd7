//! The end of a stage of EXEC: what shards have said becomes answers of commands, in the client's
//! order, and plans decide what the next stage begins with. The last stage ends the transaction.

use crate::actor::Shard;
use crate::execute::note_listening;
use crate::outbox::Outbox;
use crate::parcel::{Chore, Part, PartKey, Task};
use crate::planted::Bug;
use crate::txn::exec::{Exec, How, Pending, nothing};
use crate::txn::home::integer_of;
use crate::txn::multi::skip_what_comes;
use commands::{After, Everywhere, Home, Order, Piece, Run};
use resp::{Output, Reply};
use std::ops::Range;

/// The tasks of one shard, taken in order.
struct Done<'a> {
    shard: u16,
    tasks: std::iter::Peekable<std::slice::IterMut<'a, Task>>,
    reply: &'a Output,
    at: usize,
}

/// What a shard has said of one task.
struct Said<'a> {
    shard: u16,
    reply: &'a Output,
    /// Where in it.
    piece: Range<usize>,
    task: &'a mut Task,
}

impl<'a> Done<'a> {
    fn of(part: &'a mut Part) -> Done<'a> {
        let tasks = part.share.as_mut().map_or(&mut [][..], |share| &mut share.tasks[..]);
        Done { shard: part.shard, tasks: tasks.iter_mut().peekable(), reply: &part.reply, at: 0 }
    }

    /// Its next task, if it is one of that command. Orders answer nothing, and are passed by.
    fn next(&mut self, place: usize) -> Option<Said<'a>> {
        while self.tasks.next_if(|task| task.what == Chore::Apply).is_some() {}
        let task = self.tasks.next_if(|task| task.place as usize == place)?;
        let piece = self.at..task.until as usize;
        self.at = piece.end;
        Some(Said { shard: self.shard, reply: self.reply, piece, task })
    }
}

impl<'a> Said<'a> {
    /// What was written.
    fn bytes(&self) -> &'a [u8] {
        &self.reply[self.piece.clone()]
    }

    /// Repeats it, but for its first `head` bytes.
    fn repeat(&self, head: usize, reply: &mut Reply<'_>) {
        reply.raw_output(self.reply, self.piece.start + head..self.piece.end);
    }
}

impl Shard {
    /// All parts of a stage have come home.
    pub(super) fn end_stage<O: Outbox>(&mut self, name: u64, out: &mut O) {
        let work = self.home.find(name);
        let mut parts = std::mem::take(&mut work.parts);
        let Some(mut exec) = work.exec.take() else { return };
        exec.stages += 1;
        if parts.iter().any(|part| part.share.as_ref().is_some_and(|share| share.moved)) {
            self.end_moved(name, &exec, out);
            return;
        }
        exec.looks_first = false;
        let mut done: Vec<Done<'_>> = parts.iter_mut().map(|part| Done::of(part)).collect();
        for pending in std::mem::take(&mut exec.pending) {
            let place = pending.place;
            let mut said: Vec<Said<'_>> = Vec::new();
            for shard in &mut done {
                said.extend(std::iter::from_fn(|| shard.next(place)));
            }
            let Some(answer) = self.fold_one(name, &mut exec, pending, said, out) else { continue };
            exec.replies[place] = answer;
            self.count_exec_one(&exec, place);
        }
        drop(done);
        parts.iter_mut().for_each(|part| self.forget(&mut part.reply));
        self.go_on_exec(name, exec, None, out);
    }

    /// What a command answers; `None`: it has another round.
    fn fold_one<O: Outbox>(
        &mut self,
        name: u64,
        exec: &mut Exec,
        pending: Pending,
        mut said: Vec<Said<'_>>,
        out: &mut O,
    ) -> Option<Output> {
        let mut answer = Output::default();
        let mut reply = Reply::new(&mut answer, pending.caller.version);
        let bad = said.iter().find(|said| said.bytes().first() == Some(&b'-'));
        match (&pending.how, bad) {
            (How::Everywhere(everywhere), _) => {
                return Some(self.fold_everywhere(name, exec, pending.place, everywhere, &said, out));
            }
            (How::Plan(keys), _) => return Some(self.decide_in_exec(exec, &pending, keys, said)),
            (How::Wide(wide, told), _) => {
                let facts = self.check_facts(pending.caller.db);
                said.sort_by_key(|said| said.shard);
                let answers: Vec<&[u8]> = said.iter().map(Said::bytes).collect();
                let (_, args) = exec.args(pending.place);
                if let Some(next) = (wide.next)(&facts, args, told, &answers, &mut reply) {
                    self.add_round(exec, pending.place, pending.caller, wide, next);
                    return None;
                }
            }
            (_, Some(bad)) => bad.repeat(0, &mut reply),
            (How::One, None) => said.iter().for_each(|said| said.repeat(0, &mut reply)),
            (How::Sum, None) => reply.integer(said.iter().map(|said| integer_of(said.bytes())).sum()),
            (How::AllOk, None) => reply.ok(),
            (How::InKeyOrder, None) => {
                if !self.planted(Bug::PartOrder) {
                    said.sort_by_key(|said| said.task.keys.first().map_or(0, |key| key.ordinal));
                }
                reply.array(said.len());
                // An array of one: its element alone is wanted.
                for said in &said {
                    said.repeat(if said.bytes().starts_with(b"*1\r\n") { 4 } else { 0 }, &mut reply);
                }
            }
        }
        Some(answer)
    }

    fn fold_everywhere<O: Outbox>(
        &mut self,
        name: u64,
        exec: &mut Exec,
        place: usize,
        everywhere: &Everywhere,
        said: &[Said<'_>],
        out: &mut O,
    ) -> Output {
        let mut parts: Vec<(u16, &[u8])> = said.iter().map(|said| (said.shard, said.bytes())).collect();
        parts.sort_by_key(|(shard, _)| *shard);
        let parts: Vec<&[u8]> = parts.into_iter().map(|(_, reply)| reply).collect();
        let conn = self.home.find(name).ticket.conn;
        let mut session = self.sessions.take(conn);
        let mut state = exec.state.clone();
        // This one is used if the client has gone: it listens to nothing any more.
        state.closing = true;
        let state = session.as_mut().map_or(&mut state, |session| &mut session.state);
        let (_, args) = exec.args(place);
        let mut answer = Output::default();
        let mut reply = Reply::new(&mut answer, state.version);
        let after = (everywhere.fold)(&mut Home { session: state, house: self }, args, &parts, &mut reply);
        exec.close |= matches!(after, After::Close);
        if let Some(session) = session {
            self.sessions.put(conn, session);
        }
        self.carry_out_asides(out);
        answer
    }

    /// A plan has seen all its keys: what it orders begins the next stage.
    fn decide_in_exec(
        &mut self,
        exec: &mut Exec,
        pending: &Pending,
        keys: &[PartKey],
        said: Vec<Said<'_>>,
    ) -> Output {
        let facts = self.check_facts(pending.caller.db);
        let mut pieces: Vec<Piece> = keys.iter().map(|_| Piece::Nothing).collect();
        for said in said {
            for (key, piece) in said.task.keys.iter().zip(said.task.pieces.drain(..)) {
                pieces[key.ordinal as usize] = piece;
            }
        }
        let (queued, args) = exec.args(pending.place);
        let Run::Plan(plan) = self.catalog.entry(queued.number).command.run else {
            unreachable!("it was begun as a plan");
        };
        let mut answer = Output::default();
        let mut reply = Reply::new(&mut answer, pending.caller.version);
        let orders = (plan.decide)(&facts, args, &mut pieces, &mut reply);
        let count = queued.count as usize;
        for (key, order) in keys.iter().zip(orders.into_iter().flatten()) {
            if !matches!(order, Order::Nothing) {
                self.marks.exec_plan += 1;
                let caller = pending.caller;
                let task =
                    exec.add_task(self.index, key.owner, pending.place, caller, Chore::Apply, 0..count);
                task.keys.push(*key);
                task.orders.push(order);
            }
        }
        answer
    }

    /// A watched key has changed: nothing has run.
    fn end_moved<O: Outbox>(&mut self, name: u64, exec: &Exec, out: &mut O) {
        self.block.exec_nulls.add(1);
        self.marks.exec_moved += 1;
        let mut bytes = Output::default();
        Reply::new(&mut bytes, exec.state.version).null_array();
        let work = self.home.remove(name);
        self.finish(work, &bytes, out);
    }

    /// Everything has run: the client is answered, in one array.
    pub(super) fn end_exec<O: Outbox>(&mut self, name: u64, exec: Box<Exec>, out: &mut O) {
        if exec.stages > 1 {
            self.block.exec_stages.add(1);
            self.marks.exec_stages += 1;
        } else {
            self.block.exec_one_hop.add(1);
            self.marks.exec_one_hop += 1;
        }
        let version = exec.state.version;
        let mut bytes =
            Output::with_capacity(16 + exec.replies.iter().map(|answer| answer.len()).sum::<usize>());
        let mut reply = Reply::new(&mut bytes, version);
        reply.array(exec.replies.len());
        for (place, answer) in exec.replies.iter().enumerate() {
            let (queued, _) = exec.args(place);
            match self.catalog.entry(queued.number).command.blocks {
                _ if !answer.is_empty() => reply.raw_output(answer, 0..answer.len()),
                // There is nothing, and no waiting here.
                Some(blocks) => blocks.nothing(&mut reply),
                None => {
                    let nothing = nothing(version);
                    reply.raw_output(&nothing, 0..nothing.len());
                }
            }
        }
        let work = self.home.remove(name);
        self.count_answer(work.number, &bytes);
        if let Some(mut session) = self.sessions.take(work.ticket.conn) {
            skip_what_comes(&mut session);
            note_listening(work.ticket.conn, &mut session, out);
            self.sessions.put(work.ticket.conn, session);
        }
        if work.muted {
            bytes.clear();
        }
        if exec.hold_until > self.now.ms() {
            self.timers.push((exec.hold_until, work.ticket, bytes));
        } else {
            self.answer(work.ticket, &bytes, exec.close, out);
            if !exec.own.is_empty() {
                out.write(work.ticket.conn, &exec.own);
            }
        }
    }
}
