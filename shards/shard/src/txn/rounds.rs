//! Commands that need other keys than they name: rounds over all shards, under a lock of the whole
//! keyspace that stays until the last. It does not know what is asked or told in a round.

use super::works::push_arguments;
use crate::actor::Shard;
use crate::outbox::Outbox;
use crate::parcel::{ConnId, Hop, Parcel, Part};
use crate::session::Session;
use commands::{Args, Caller, House, Wide};
use resp::{Output, Reply};

impl Shard {
    /// Begins the first round of a command.
    pub(crate) fn start_wide<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        number: u16,
        args: Args<'_>,
        out: &mut O,
    ) {
        let caller = self.caller(session);
        let muted = self.is_muted(session);
        let ticket = self.ticket_only(conn, session, out);
        let mut work = self.home.work(ticket, number, caller, muted);
        work.bytes.extend_from_slice(args.bytes());
        work.spans.extend_from_slice(args.spans());
        for shard in 0..self.shards {
            let mut part = self.home.part(shard, number, caller, Hop::Everywhere);
            part.whole = true;
            push_arguments(&mut part, args, 0..args.len());
            work.parts.push(part);
        }
        let name = self.home.insert(work);
        self.home.staged.push_back(name);
    }

    /// Runs a round's part: it finds what it is told where its answer will be.
    pub(super) fn run_round(&mut self, wide: &Wide, part: &mut Part) {
        let told = std::mem::take(&mut part.reply);
        let args = Args::new(&part.bytes, &part.spans);
        part.reply = self.answer_round(wide, part.number, part.caller, args, &told).into();
    }

    /// What this shard answers in a round.
    pub(super) fn answer_round(
        &mut self,
        wide: &Wide,
        number: u16,
        caller: Caller,
        args: Args<'_>,
        told: &[u8],
    ) -> Vec<u8> {
        let dirty = self.effects.dirty;
        let mut answer = Vec::new();
        (wide.part)(&mut self.ctx(caller), args, told, &mut answer);
        if self.effects.dirty != dirty && !self.watched.is_empty() {
            self.touch_written(number, caller, args);
        }
        answer
    }

    /// All parts of a round have come home: there is another one, or the client is answered.
    pub(super) fn next_round<O: Outbox>(&mut self, wide: &Wide, name: u64, out: &mut O) {
        let db = self.home.find(name).caller.db;
        let facts = self.check_facts(db);
        let work = self.home.find(name);
        let mut bytes = Output::default();
        let mut reply = Reply::new(&mut bytes, work.caller.version);
        let args = Args::new(&work.bytes, &work.spans);
        let answers: Vec<&[u8]> = work.parts.iter().map(|part| &part.reply[..]).collect();
        let Some(told) = (wide.next)(&facts, args, &work.reply, &answers, &mut reply) else {
            self.block.transactions_multi_hop.add(1);
            let work = self.home.remove(name);
            return self.finish(work, &bytes, out);
        };
        let parts = std::mem::take(&mut work.parts);
        work.away = parts.len();
        for mut part in parts {
            part.hop = Hop::Again;
            part.reply.clear();
            part.reply.extend_from_slice(&told);
            if part.shard == self.index {
                self.own.push_back(part);
            } else {
                self.send(part.shard, Parcel::Part(part), out);
            }
        }
        self.home.find(name).reply = told.into();
    }
}
