//! PUBLISH: heard here at once, and on other shards by a part that comes home with the number of those who
//! heard it. A client may have many such parts away: the rings keep their order, and so what it says arrives in order
//! everywhere.

use super::Running;
use crate::actor::Shard;
use crate::feed::Flow;
use crate::outbox::Outbox;
use crate::parcel::{ConnId, Hop, Part};
use crate::planted::Bug;
use crate::session::{Hold, Session};
use crate::txn::{integer_of, push_argument};
use commands::{Args, KeyEvent, Run, TopicKind};
use resp::{Output, Reply};

/// Messages that a client may have away.
const PUBLISHED_AWAY_MAX: usize = 64;

impl Shard {
    /// A client says something to all who listen.
    pub(crate) fn publish<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        number: u16,
        kind: TopicKind,
        args: Args<'_>,
        out: &mut O,
    ) -> Flow {
        // Behind what the client has written, and not faster than others take it.
        let follows = session.publishing && session.waiting() < PUBLISHED_AWAY_MAX && self.outgoing_len == 0;
        if session.waiting() > 0 && !follows {
            session.hold = Hold::Answers;
            return Flow::Held;
        }
        self.block.published.add(1);
        self.marks.published_behind += u64::from(session.waiting() > 0);
        let running = Some(Running::new(conn, session));
        let heard = self.post_message(kind, args.get(1), args.get(2), running, out);
        if self.post.shards.is_empty() {
            let before = self.reply.len();
            Reply::new(&mut self.reply, session.state.version).integer(heard as i64);
            self.block.local_commands.add(1);
            self.count_reply(number, before);
            self.mute(session, before);
            self.reply.extend_from_slice(&self.post.own);
            self.post.own.clear();
            self.behind_answers(session);
            return Flow::Next;
        }
        let caller = self.caller(session);
        let muted = self.is_muted(session);
        let ticket = self.ticket_only(conn, session, out);
        if !self.post.own.is_empty() {
            out.write(conn, &self.post.own);
            self.post.own.clear();
        }
        let mut work = self.home.work(ticket, number, caller, muted);
        Reply::new(&mut work.reply, caller.version).integer(heard as i64);
        if self.planted(Bug::OneShardHears) {
            self.post.shards.truncate(1);
        }
        for shard in self.post.shards.drain(..) {
            let mut part = self.home.part(shard, number, caller, Hop::Publish);
            push_argument(&mut part, args.get(1));
            push_argument(&mut part, args.get(2));
            work.parts.push(part);
        }
        let name = self.home.insert(work);
        self.send_parts(name, out);
        (session.transacting, session.publishing) = (true, true);
        Flow::Away { more: 0 }
    }

    /// A message has come from another shard's client.
    pub(crate) fn publish_part<O: Outbox>(&mut self, part: &mut Part, out: &mut O) {
        let Run::Publish(kind) = self.catalog.entry(part.number).command.run else {
            unreachable!("it was begun as a message");
        };
        let args = Args::new(&part.bytes, &part.spans);
        if self.planted(Bug::MessageTwice) {
            self.post_message(kind, args.get(0), args.get(1), None, out);
        }
        let heard = self.post_message(kind, args.get(0), args.get(1), None, out);
        self.marks.heard_far += u64::from(heard > 0);
        Reply::new(&mut part.reply, part.caller.version).integer(heard as i64);
    }

    /// All shards have heard a message.
    pub(crate) fn end_publish<O: Outbox>(&mut self, name: u64, out: &mut O) {
        let mut work = self.home.remove(name);
        let here = std::mem::take(&mut work.reply);
        let elsewhere: i64 = work.parts.iter().map(|part| integer_of(&part.reply)).sum();
        let mut bytes = Output::with_capacity(16);
        Reply::new(&mut bytes, work.caller.version).integer(integer_of(&here) + elsewhere);
        work.reply = here;
        self.finish(work, &bytes, out);
    }

    /// PUBLISH inside a transaction, on this shard: it is heard when that has run.
    pub(crate) fn publish_later(&mut self, kind: TopicKind, args: Args<'_>) -> i64 {
        self.gather_events();
        let (channel, text) = (args.get(1), args.get(2));
        let heard = self.heard_here(kind, channel);
        if heard > 0 {
            self.say_later(kind, channel.to_vec(), text.to_vec(), false);
        }
        // What was gathered before waits there too.
        if self.has_queued() {
            self.effects.events.push(KeyEvent::said());
        }
        heard as i64
    }
}
