//! A shard's share of EXEC: its commands and parts of commands, in the client's order, under seals. It
//! does not know what becomes of their answers.

use crate::actor::Shard;
use crate::execute::local_handler;
use crate::parcel::{Chore, Part, Task};
use commands::{Args, Call, Hashed, Run};
use resp::{Reply, Span};

impl Shard {
    /// Runs a share, unless a key that the client watches has changed.
    pub(super) fn run_share(&mut self, part: &mut Part) {
        let Some(mut share) = part.share.take() else { return };
        // One time for the whole transaction, whichever shard looks.
        let now = std::mem::replace(&mut self.now, share.now);
        if let Some(round) = share.watch {
            share.moved = self.end_watch(part.caller.client, round);
        }
        std::mem::swap(&mut self.reply, &mut self.away_reply);
        if !share.moved {
            for task in &mut share.tasks {
                self.run_task(task, &part.bytes, &part.spans);
                part.reply.append_output(&self.reply);
                self.reply.clear();
                task.until = part.reply.len() as u32;
            }
        }
        self.end_away_reply();
        self.now = now;
        part.share = Some(share);
    }

    fn run_task(&mut self, task: &mut Task, bytes: &[u8], spans: &[Span]) {
        let args = Args::new(bytes, &spans[task.first as usize..][..task.count as usize]);
        let (caller, number) = (task.caller, task.number);
        match task.what {
            Chore::Run => {
                let handler = local_handler(self.catalog.entry(number).command.run);
                let lacks_room = self.short_of_room && self.lacks_room(number, args.len(), caller.version);
                if let Some(handler) = handler.filter(|_| !lacks_room) {
                    self.call(number, handler, caller, args, Hashed::NONE);
                }
            }
            Chore::Publish => {
                let Run::Publish(kind) = self.catalog.entry(number).command.run else {
                    unreachable!("it was begun as a message");
                };
                let heard = self.publish_later(kind, args);
                Reply::new(&mut self.reply, caller.version).integer(heard);
            }
            Chore::Gather => self.gather_keys(number, caller, args, &task.keys, &mut task.pieces),
            Chore::Apply => {
                for (key, order) in task.keys.iter().zip(task.orders.drain(..)) {
                    self.carry_order(caller, args, *key, order);
                }
            }
            Chore::Round => {
                let wide = self.catalog.entry(number).command.wide.expect("it was begun in rounds");
                let answer = self.answer_round(wide, number, caller, args, &task.told);
                self.reply.extend_from_slice(&answer);
            }
            Chore::Everywhere => {
                let Run::Everywhere(everywhere) = self.catalog.entry(number).command.run else {
                    unreachable!("it was begun as an everywhere-command");
                };
                let call = Call { caller, now: self.now.ms() };
                let mut answer = std::mem::take(&mut self.reply);
                self.look_around(|shard| (everywhere.part)(shard, &call, args, answer.bytes_mut()));
                self.reply = answer;
                // Inside a transaction CLIENT PAUSE does not wait for the writes that are away: its own are.
                self.pause_began = false;
            }
        }
    }
}
