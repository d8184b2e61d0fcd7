//! Known bugs behind a switch, so that the simulator can prove that it would find them. Without the
//! feature `planted` the switch is the constant `false`, and what hangs on it is not compiled.

use crate::actor::Shard;

/// A bug that can be planted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bug {
    /// Seals go as soon as a part has run, not when the whole command is done.
    EarlyRelease,
    /// A home says too late that a transaction is open.
    OpenTooLate,
    /// Keys that a transaction only reads are not locked.
    ReadsUnlocked,
    /// Single-key reads do not look at seals.
    ReadsPassSeals,
    /// Commands that lock the whole keyspace lock nothing.
    WholeUnlocked,
    /// Parts run in the order of their arrival, not of their ids.
    ArrivalOrder,
    /// A parcel that a full ring gives back is lost.
    LostParcel,
    /// A session goes on while answers are away.
    RunsAhead,
    /// The frame behind an inline command runs though the session is held.
    InlineRunsOn,
    /// What was written stands behind the answer of a later command.
    ReplyOvertaken,
    /// An answer that comes home is taken for the oldest that is away.
    AnswersSwapped,
    /// An answer for a client that has gone reaches its successor in the slot.
    StrangersAnswer,
    /// MGET answers in the order of the shards.
    PartOrder,
    /// RENAME between shards leaves its source.
    SourceStays,
    /// A plan answers without its second hop.
    SecondHopSkipped,
    /// Runs that were set aside stay there.
    ParkedForever,
    /// A core may sleep while runs that were set aside wait for another core.
    SleepsOnParked,
    /// A run that was set aside begins anew.
    RunRepeats,
    /// A reply that outgrows its run loses what was there.
    LargeReplyLosesHead,
    /// Keys do not expire for runs from other shards.
    TimelessHop,
    /// FLUSHALL empties its home shard alone.
    FlushAtHome,
    /// Whose replies flow again is not held until its turn.
    ResumedTwice,
    /// No room is kept in rings for commands over several shards.
    NoRoomKept,
    /// CLIENT PAUSE is answered while writes are away.
    PauseAnswersEarly,
    /// A run passes earlier ones of its client that are set aside.
    ParkedOvertaken,
    /// EXEC's shares run as they arrive, each in an order of its own and under no seals.
    ExecUnordered,
    /// EXEC does not look whether watched keys have expired.
    WatchMissesExpiry,
    /// Writes do not tell those who watch their keys.
    WritesUntold,
    /// EXEC does not lock what its client watches while it looks.
    WatchUnlocked,
    /// That nobody listens any more is told behind a new subscription.
    FarewellLate,
    /// Of several other shards where a message is heard, one gets it.
    OneShardHears,
    /// A message that has come from another shard is heard twice.
    MessageTwice,
    /// What is offered to a waiting client is taken before it says that it is still there.
    PoppedBeforeTaken,
    /// Of two clients that wait the second is served first.
    SecondServedFirst,
    /// A key that has something for a waiting client is free for all until it has been served.
    ReadyUnheld,
    /// A client that has gone keeps its place in the queues of other shards.
    GoneStaysInLine,
    /// What is offered to a client that waits no more counts as taken.
    TakenTwice,
    /// What a plan orders for a key that is not there is not done.
    ActLost,
    /// A value that a plan makes does not replace what is there.
    PutOnlyNew,
    /// A value that a plan makes lands in the client's database.
    PutHere,
    /// Keys and fields do not expire in parts of commands over several shards.
    TimelessPart,
    /// What keys of other shards hold is taken for each other.
    PiecesSwapped,
    /// What was removed is never freed.
    NeverFrees,
}

impl Bug {
    /// All of them.
    pub const ALL: &'static [Bug] = &[
        Bug::EarlyRelease,
        Bug::OpenTooLate,
        Bug::ReadsUnlocked,
        Bug::ReadsPassSeals,
        Bug::WholeUnlocked,
        Bug::ArrivalOrder,
        Bug::LostParcel,
        Bug::RunsAhead,
        Bug::InlineRunsOn,
        Bug::ReplyOvertaken,
        Bug::AnswersSwapped,
        Bug::StrangersAnswer,
        Bug::PartOrder,
        Bug::SourceStays,
        Bug::SecondHopSkipped,
        Bug::ParkedForever,
        Bug::SleepsOnParked,
        Bug::RunRepeats,
        Bug::LargeReplyLosesHead,
        Bug::TimelessHop,
        Bug::FlushAtHome,
        Bug::ResumedTwice,
        Bug::NoRoomKept,
        Bug::PauseAnswersEarly,
        Bug::ParkedOvertaken,
        Bug::ExecUnordered,
        Bug::WatchMissesExpiry,
        Bug::WritesUntold,
        Bug::WatchUnlocked,
        Bug::FarewellLate,
        Bug::OneShardHears,
        Bug::MessageTwice,
        Bug::PoppedBeforeTaken,
        Bug::SecondServedFirst,
        Bug::ReadyUnheld,
        Bug::GoneStaysInLine,
        Bug::TakenTwice,
        Bug::ActLost,
        Bug::PutOnlyNew,
        Bug::PutHere,
        Bug::TimelessPart,
        Bug::PiecesSwapped,
        Bug::NeverFrees,
    ];
}

impl Shard {
    /// Whether that bug is planted here.
    #[cfg(feature = "planted")]
    pub(crate) fn planted(&self, bug: Bug) -> bool {
        self.plant == Some(bug)
    }

    /// None is.
    #[cfg(not(feature = "planted"))]
    #[inline(always)]
    pub(crate) const fn planted(&self, _: Bug) -> bool {
        false
    }
}
