//! Reach marks: rare paths that a test campaign must have taken. Plain counters, free in passing.

/// How often each rare path was taken.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Marks {
    /// A command was divided over several shards.
    pub split: u64,
    /// The same, while another of its client was away.
    pub split_behind_split: u64,
    /// A plan made its second hop.
    pub plan: u64,
    /// A transaction found no room in a ring and was tried again in a later tick.
    pub reservation_refused: u64,
    /// The same, at last staged.
    pub reservation_retried: u64,
    /// A request waited behind one of its own session that was away.
    pub away_while_queued: u64,
    /// A full ring gave a parcel back.
    pub ring_full: u64,
    /// A client went while answers were away.
    pub lost_client_with_answers_away: u64,
    /// A single-shard command met a sealed key and waited.
    pub sealed_wait: u64,
    /// A transaction waited for one in front of it.
    pub transaction_wait: u64,
    /// A part arrived whose order was not yet settled.
    pub unsettled: u64,
    /// Several commands travelled in one run.
    pub long_run: u64,
    /// A reply came in memory of the shard that ran it.
    pub large_reply: u64,
    /// A session had its share of a turn and let others go first.
    pub yielded: u64,
    /// A session was held because its client does not read.
    pub choked: u64,
    /// A session was held by CLIENT PAUSE.
    pub paused: u64,
    /// CLIENT PAUSE waited for writes that were away.
    pub pause_waited: u64,
    /// A client had sent its last while answers were away.
    pub ended_while_away: u64,
    /// The same, while it was held because it does not read.
    pub ended_while_choked: u64,
    /// The same, while it was held by a pause.
    pub ended_while_paused: u64,
    /// The same, while it waited for its turn.
    pub ended_in_turn: u64,
    /// EXEC took one hop.
    pub exec_one_hop: u64,
    /// EXEC took several stages.
    pub exec_stages: u64,
    /// A plan inside EXEC had orders for keys of several shards.
    pub exec_plan: u64,
    /// EXEC found a watched key changed, on another shard or under seals.
    pub exec_moved: u64,
    /// A message was heard that came from another shard.
    pub heard_far: u64,
    /// A message went out behind others of its client that were away.
    pub published_behind: u64,
    /// A client went while the others were being told that it listens.
    pub gone_while_subscribing: u64,
    /// A client waited in a blocking command.
    pub blocked: u64,
    /// The same, for keys of several shards.
    pub blocked_on_several: u64,
    /// A waiting client was served by its own shard.
    pub served_here: u64,
    /// It was offered something by another shard, and took it.
    pub offer_taken: u64,
    /// It was gone, or waited no more.
    pub offer_declined: u64,
    /// A waiting client's command ran anew, over two shards.
    pub served_anew: u64,
    /// The same, and somebody else had been there before.
    pub anew_in_vain: u64,
    /// A wait came to the end of its time.
    pub timed_out: u64,
    /// CLIENT UNBLOCK ended a wait.
    pub unblocked: u64,
    /// A client vanished while it waited.
    pub lost_while_blocked: u64,
    /// A client had sent its last while it waited.
    pub ended_while_blocked: u64,
    /// A key had something for a client that was just being offered something else.
    pub offer_behind_offer: u64,
    /// What a key had could not be taken yet: a transaction was not done.
    pub service_sealed: u64,
    /// A collection outgrew its packed form.
    pub grown: u64,
    /// The same in a part of a command, while other parts of it were away.
    pub grown_in_part: u64,
    /// A large removed value was freed in several slices.
    pub freed_slices: u64,
    /// A field of a hash expired that nobody asked for.
    pub fields_expired: u64,
    /// A command met a field of a hash whose time had come.
    pub fields_met: u64,
}

/// How many there are.
const MARKS: usize = 46;

impl Marks {
    /// Adds another shard's.
    pub fn add(&mut self, other: &Marks) {
        for ((_, mine), (_, theirs)) in self.each_mut().into_iter().zip(other.each()) {
            *mine += theirs;
        }
    }

    fn each_mut(&mut self) -> [(&'static str, &mut u64); MARKS] {
        [
            ("split", &mut self.split),
            ("split_behind_split", &mut self.split_behind_split),
            ("plan", &mut self.plan),
            ("reservation_refused", &mut self.reservation_refused),
            ("reservation_retried", &mut self.reservation_retried),
            ("away_while_queued", &mut self.away_while_queued),
            ("ring_full", &mut self.ring_full),
            ("lost_client_with_answers_away", &mut self.lost_client_with_answers_away),
            ("sealed_wait", &mut self.sealed_wait),
            ("transaction_wait", &mut self.transaction_wait),
            ("unsettled", &mut self.unsettled),
            ("long_run", &mut self.long_run),
            ("large_reply", &mut self.large_reply),
            ("yielded", &mut self.yielded),
            ("choked", &mut self.choked),
            ("paused", &mut self.paused),
            ("pause_waited", &mut self.pause_waited),
            ("ended_while_away", &mut self.ended_while_away),
            ("ended_while_choked", &mut self.ended_while_choked),
            ("ended_while_paused", &mut self.ended_while_paused),
            ("ended_in_turn", &mut self.ended_in_turn),
            ("exec_one_hop", &mut self.exec_one_hop),
            ("exec_stages", &mut self.exec_stages),
            ("exec_plan", &mut self.exec_plan),
            ("exec_moved", &mut self.exec_moved),
            ("heard_far", &mut self.heard_far),
            ("published_behind", &mut self.published_behind),
            ("gone_while_subscribing", &mut self.gone_while_subscribing),
            ("blocked", &mut self.blocked),
            ("blocked_on_several", &mut self.blocked_on_several),
            ("served_here", &mut self.served_here),
            ("offer_taken", &mut self.offer_taken),
            ("offer_declined", &mut self.offer_declined),
            ("served_anew", &mut self.served_anew),
            ("anew_in_vain", &mut self.anew_in_vain),
            ("timed_out", &mut self.timed_out),
            ("unblocked", &mut self.unblocked),
            ("lost_while_blocked", &mut self.lost_while_blocked),
            ("ended_while_blocked", &mut self.ended_while_blocked),
            ("offer_behind_offer", &mut self.offer_behind_offer),
            ("service_sealed", &mut self.service_sealed),
            ("grown", &mut self.grown),
            ("grown_in_part", &mut self.grown_in_part),
            ("freed_slices", &mut self.freed_slices),
            ("fields_expired", &mut self.fields_expired),
            ("fields_met", &mut self.fields_met),
        ]
    }

    /// Takes over what the store has counted itself.
    pub fn look_at(&mut self, counters: &store::Counters) {
        self.grown = counters.grown;
        self.freed_slices = counters.freed_slices;
        self.fields_expired = counters.expired_fields;
        self.fields_met = counters.met_fields;
    }

    /// All marks by name.
    pub fn each(&self) -> [(&'static str, u64); MARKS] {
        let mut copy = *self;
        copy.each_mut().map(|(name, count)| (name, *count))
    }
}
