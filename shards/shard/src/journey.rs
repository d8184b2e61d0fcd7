//! Commands that go from shard to shard until they have enough: a run of one command, which each shard sends on
//! to the next with what was found, and the last one home.

use crate::actor::Shard;
use crate::batch::Batch;
use crate::feed::Flow;
use crate::outbox::Outbox;
use crate::parcel::{ConnId, Parcel, Run};
use crate::runs::Stop;
use crate::session::Session;
use commands::{Args, Caller, Finds, Hashed, Journey, Run as Way};

impl Shard {
    /// Begins a journey, here or elsewhere.
    #[expect(clippy::too_many_arguments, reason = "the whole place of a frame")]
    pub(crate) fn set_out<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        bytes: &[u8],
        batch: &Batch,
        place: usize,
        journey: &'static Journey,
        out: &mut O,
    ) -> Flow {
        let frame = &batch.frames[place];
        let args = batch.args_of(bytes, frame);
        let mut finds = Finds::default();
        let mut shard = (journey.begin)(args, self.shards).min(self.shards - 1);
        if shard == self.index {
            let before = self.reply.len();
            match self.visit(journey, self.caller(session), args, &mut finds) {
                Some(next) => shard = next,
                None => {
                    self.ran_here += 1;
                    self.count_reply(frame.number, before);
                    self.mute(session, before);
                    self.behind_answers(session);
                    return Flow::Next;
                }
            }
        }
        let mut run = self.load(conn, session, bytes, batch, place..place + 1, shard, out);
        run.finds = Some(Box::new(finds));
        self.send_on(run, shard, out);
        self.hold_for_answers(session);
        Flow::Away { more: 0 }
    }

    /// A journey has come to this shard.
    #[cold]
    pub(crate) fn go_on_with(&mut self, run: &mut Run) -> Stop {
        let (Some(mut finds), Some(step)) = (run.finds.take(), run.steps.first()) else { return Stop::Done };
        let Way::Journey(journey) = self.catalog.entry(step.number).command.run else { return Stop::Done };
        let args = Args::new(run.lent.as_deref().unwrap_or(&run.bytes), &run.spans);
        if let Some(shard) = self.visit(journey, run.caller, args, &mut finds) {
            run.finds = Some(finds);
            return Stop::GoesOn(shard);
        }
        self.count_reply(step.number, 0);
        Stop::Done
    }

    /// This shard's stage of a journey. Says where it goes on; else the reply is written.
    pub(crate) fn visit(
        &mut self,
        journey: &Journey,
        caller: Caller,
        args: Args<'_>,
        finds: &mut Finds,
    ) -> Option<u16> {
        self.look_around(|shard| {
            shard.call_with(caller, Hashed::NONE, |ctx, reply| (journey.visit)(ctx, args, finds, reply))
        })
    }

    /// To the next shard.
    pub(crate) fn send_on<O: Outbox>(&mut self, mut run: Box<Run>, shard: u16, out: &mut O) {
        run.shard = shard;
        self.block.hops.add(1);
        self.send(shard, Parcel::Run(run), out);
    }
}
