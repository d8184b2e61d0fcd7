//! What a seed decides before the first step: how many clients, how small the rings, how fine the
//! interleaving, which faults. It does not know how any of it is carried out.

use crate::random::Random;

/// What the clients do, and therefore which oracle looks at them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Theme {
    /// A few keys, all kinds of commands, a history that must have one order.
    Linear,
    /// Roles with invariants: observers, groups, tokens, counters.
    Invariants,
    /// Anything the catalog has, in order or not.
    Chaos,
}

/// Clients of one sort, for what takes luck in a mixed company.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Crowd {
    /// Some change keys, some look at all of them, and all fall silent again and again: cores sleep.
    Naps,
    /// All watch each other's posts.
    Posts,
    /// Keys are locked often, and counted between.
    Counts,
    /// All speak or listen.
    Voices,
    /// One pauses the others, who write keys of several shards.
    Pauses,
    /// Some fill two queues of one shard at once, the others wait for either.
    Queues,
}

/// Mistakes of a house around its shards, to see that they are caught.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HouseBug {
    /// Asks what is settled after it has drained its inboxes.
    SettledAfterDrain,
    /// Says that its rings are published before they are.
    PublishedEarly,
    /// Stops the second drain at a budget.
    DrainBudget,
    /// Tells the shard who is stuck and who no longer is, last news first.
    ChokesBackwards,
}

/// The shape of one run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub shards: u16,
    pub theme: Theme,
    /// Parcels that a ring holds.
    pub ring: usize,
    pub clients: usize,
    /// Requests that all clients send together, at most.
    pub requests: usize,
    /// Steps with load; then the clients stop sending.
    pub steps: usize,
    /// `pipeline-order strict`.
    pub strict: bool,
    /// Requests that a client has in flight at most.
    pub depth: usize,
    /// Percent of the shard's steps that are whole ticks; the others are single rooms.
    pub whole_ticks: usize,
    /// Parcels taken from one ring in the first drain at most.
    pub drain: usize,
    /// Percent of client steps that cut bytes somewhere.
    pub cuts: usize,
    /// Clients vanish, once in so many client steps; 0: never.
    pub vanish: usize,
    /// Clients read late, in so many percent of their steps.
    pub slow_readers: usize,
    /// Clients are killed and paused by others.
    pub kills: bool,
    /// Clients pause all others for moments, and one looks whether that holds.
    pub pauses: bool,
    /// Bytes of replies that a session may write in a turn before others get theirs.
    pub share: usize,
    /// One client floods a ring while another waits for room in it.
    pub flood: bool,
    /// Idle clients are closed after a second.
    pub timeout: bool,
    /// Most clients speak or listen.
    pub chatter: bool,
    /// Clients close their half and wait for the rest, once in so many client steps; 0: never.
    pub half_close: usize,
    /// The house closes in the end while clients still have requests away.
    pub leaves: bool,
    /// Cores dawdle between staging and saying that they have published.
    pub lingers: bool,
    /// Cores sleep when their shards let them.
    pub sleeps: bool,
    /// All clients are of one sort.
    pub crowd: Option<Crowd>,
    /// Clients fall silent once in so many steps, until all is answered; 0: never.
    pub lull: usize,
    /// Values of many kilobytes.
    pub heavy: bool,
    /// Collections leave their packed form with few elements.
    pub small: bool,
    /// The history is about collections too.
    pub kinds: bool,
    /// Elements that are carried between collections; 0: none are.
    pub goods: usize,
    /// Every so manieth command of the history is a transaction.
    pub transactions: usize,
    /// Most clients fill queues or wait for them.
    pub queues: bool,
    /// Keys get times to live.
    pub expiry: bool,
    /// Milliseconds of a time jump at most.
    pub jump_ms: usize,
    /// How often each shard gets its turn.
    pub weights: Vec<usize>,
    pub house_bug: Option<HouseBug>,
}

impl Plan {
    /// A client may be closed though it did nothing for it.
    pub(crate) fn closes_anyone(&self) -> bool {
        self.kills || self.timeout
    }

    pub(crate) fn new(random: &mut Random, shards: u16, house_bug: Option<HouseBug>) -> Plan {
        let kind = random.below(30);
        let (theme, kinds, carries) = match kind {
            0..=6 => (Theme::Linear, false, false),
            7..=11 => (Theme::Linear, true, false),
            12..=18 => (Theme::Invariants, false, false),
            19..=21 => (Theme::Invariants, false, true),
            22..=25 => (Theme::Chaos, false, false),
            _ => (Theme::Invariants, false, false),
        };
        let lopsided = random.one_in(3);
        let weight = |random: &mut Random| if lopsided { random.within(1, 12) } else { 4 };
        let depth = *random.pick(&[1, 2, 4, 8, 16, 40]);
        let plan = Plan {
            shards,
            theme,
            ring: *random.pick(&[1, 2, 2, 4, 8, 64]),
            clients: if carries { random.within(5, 8) } else { random.within(2, 7) },
            requests: if theme == Theme::Linear { 180 } else { 600 },
            steps: random.within(600, 2_200),
            strict: random.percent(75),
            depth,
            whole_ticks: *random.pick(&[0, 20, 50, 80, 95]),
            drain: *random.pick(&[1, 2, 3, 8, 256]),
            cuts: *random.pick(&[0, 10, 40, 90]),
            vanish: *random.pick(&[0, 0, 40, 150]),
            slow_readers: *random.pick(&[0, 0, 30, 80]),
            kills: random.one_in(4),
            pauses: random.one_in(5),
            share: *random.pick(&[600, 3_000, 1 << 20]),
            flood: false,
            timeout: random.one_in(12),
            chatter: random.one_in(6),
            half_close: *random.pick(&[0, 0, 60]),
            leaves: random.one_in(8),
            lingers: random.one_in(2),
            sleeps: random.one_in(2),
            crowd: None,
            lull: *random.pick(&[0, 60, 200, 500]),
            heavy: random.one_in(12),
            small: random.one_in(2),
            kinds,
            goods: if carries { *random.pick(&[6, 40, 150]) } else { 0 },
            transactions: *random.pick(&[2, 5, 12, 60]),
            queues: kind >= 26,
            expiry: random.one_in(2),
            jump_ms: *random.pick(&[1, 5, 40, 40, 300]),
            weights: (0..shards).map(|_| weight(random)).collect(),
            house_bug,
        };
        if plan.queues {
            return plan.queueing();
        }
        if shards == 1 || theme != Theme::Invariants || carries {
            return plan;
        }
        match random.below(12) {
            0 | 1 => plan.flooded(),
            2 => plan.crowded(Crowd::Naps, random),
            3 | 4 => plan.crowded(Crowd::Posts, random),
            5 | 6 => plan.crowded(Crowd::Counts, random),
            7 => plan.crowded(Crowd::Voices, random),
            8 => plan.crowded(Crowd::Pauses, random),
            9 => plan.crowded(Crowd::Queues, random),
            _ => plan,
        }
    }

    /// The same with clients of one sort, of which nothing else disposes.
    fn crowded(self, crowd: Crowd, random: &mut Random) -> Plan {
        let plan = Plan {
            crowd: Some(crowd),
            clients: random.within(5, 8),
            requests: usize::MAX,
            vanish: 0,
            kills: false,
            pauses: false,
            timeout: false,
            half_close: 0,
            leaves: false,
            heavy: false,
            ..self
        };
        match crowd {
            // Nothing wakes a core but what it waits for.
            Crowd::Naps => Plan {
                strict: true,
                steps: 1_500,
                depth: random.within(1, 3),
                sleeps: true,
                lull: random.within(10, 30),
                ..plan
            },
            Crowd::Counts => Plan { strict: false, depth: random.within(8, 40), slow_readers: 0, ..plan },
            Crowd::Pauses => Plan { pauses: true, slow_readers: 0, ..plan },
            Crowd::Posts => Plan { slow_readers: 0, ..plan },
            Crowd::Queues => Plan { queues: true, slow_readers: 0, ..plan }.queueing(),
            // Much happens within a tick: who stops listening and who begins meet.
            Crowd::Voices => Plan {
                clients: 8,
                steps: 2_200,
                whole_ticks: 0,
                cuts: 0,
                vanish: random.within(30, 90),
                slow_readers: 0,
                ..plan
            },
        }
    }

    /// The same with time to wait, and without what may take replies away that were written.
    fn queueing(self) -> Plan {
        Plan {
            requests: 1_200,
            steps: 3_000,
            clients: self.clients.max(6),
            whole_ticks: self.whole_ticks.max(50),
            kills: false,
            lull: 0,
            jump_ms: 1,
            ..self
        }
    }

    /// The same with so much for one ring that it is never empty, and nothing else that makes clients wait.
    fn flooded(self) -> Plan {
        Plan {
            flood: true,
            ring: self.ring.min(2),
            clients: 12,
            requests: usize::MAX,
            strict: true,
            depth: 40,
            whole_ticks: 95,
            drain: 256,
            vanish: 0,
            slow_readers: 0,
            kills: false,
            pauses: false,
            share: 1 << 20,
            timeout: false,
            half_close: 0,
            lull: 0,
            heavy: false,
            weights: vec![4; usize::from(self.shards)],
            ..self
        }
    }
}
