//! A rig for tests: commands are carried out over any number of small shards, one after the other, in
//! the way a real house does it: divided, planned, steered, everywhere. It knows no parcels, locks or
//! connections; those are the shard crate's to test.

use crate::catalog::{Catalog, Entry};
use crate::command::{Check, Everywhere, Finds, Go, Lock, Order, Piece, Plan, Run, Spread, Wide};
use crate::context::{Args, Caller, Ctx, Effects, Key, Random};
use crate::home::{After, Call, Facts, Home, House, Job, PauseMode, ReplyMode, SessionState};
use resp::client::Value;
use resp::{Output, Reply, Span, Version};
use spec::Settings;
use spec::setting::{Change, Events, Kind, Setting};
use std::sync::{Arc, LazyLock};
use store::{Hasher, Store};
use telemetry::{Block, Snapshot};

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::new(&crate::all()));

/// When a rig's clock starts: some time in 2023, in milliseconds.
pub(crate) const START: i64 = 1_700_000_000_000;

/// A few settings of each sort.
static TABLE: &[Setting] = &[
    Setting::new("databases", Kind::Integer { min: 1, max: 99 }, "16", ""),
    Setting::new("dir", Kind::Text, ".", "").change(Change::Protected),
    Setting::new("loglevel", Kind::Choice(&["debug", "notice"]), "notice", "").change(Change::Live),
    Setting::new("maxmemory", Kind::Memory { min: 0, max: i64::MAX }, "0", "")
        .live(|live, value| live.maxmemory = value.count()),
    Setting::new("maxmemory-samples", Kind::Integer { min: 1, max: 99 }, "5", "").change(Change::Live),
    Setting::new("port", Kind::Integer { min: 0, max: 65_535 }, "6379", "").change(Change::Live),
    Setting::new("requirepass", Kind::Text, "", "")
        .sensitive()
        .live(|live, value| live.requirepass = value.text().to_owned()),
];

/// Runs a test on one shard, and on several.
pub(crate) fn on_shards(test: impl Fn(&mut Rig)) {
    for shards in [1, 2, 3, 8] {
        test(&mut Rig::new(shards));
    }
}

/// Some shards, and one client.
pub(crate) struct Rig {
    pub(crate) houses: Vec<TestHouse>,
    pub(crate) session: SessionState,
    /// What the last command of the `Home` kind asked for.
    pub(crate) after: After,
}

/// A shard without wires.
pub(crate) struct TestHouse {
    pub(crate) index: u16,
    pub(crate) shards: u16,
    pub(crate) now: i64,
    pub(crate) store: Store,
    pub(crate) settings: Settings,
    pub(crate) random: Random,
    pub(crate) effects: Effects,
    pub(crate) watched: crate::Watched,
    pub(crate) topics: crate::Topics,
    pub(crate) blocks: Vec<Arc<Block>>,
    pub(crate) facts: Facts,
    pub(crate) others: Vec<SessionState>,
    pub(crate) jobs: Vec<Job>,
    pub(crate) pause: Option<(i64, PauseMode)>,
    pub(crate) active_expiry: bool,
}

impl Rig {
    pub(crate) fn new(shards: u16) -> Rig {
        let blocks: Vec<_> = (0..shards).map(|_| Arc::new(Block::new(CATALOG.entries().len()))).collect();
        let house = |index| TestHouse {
            index,
            shards,
            now: START,
            store: Store::new(Hasher::new([1, 2, 3, 4]), 16),
            settings: Settings::new(TABLE),
            random: Random::new(u64::from(index) + 7),
            effects: Effects::default(),
            watched: crate::Watched::default(),
            topics: crate::Topics::default(),
            blocks: blocks.clone(),
            facts: Facts::default(),
            others: Vec::new(),
            jobs: Vec::new(),
            pause: None,
            active_expiry: true,
        };
        Rig { houses: (0..shards).map(house).collect(), session: session(1), after: After::Done }
    }

    /// Checks what a command line (with Redis's quotes) is answered, as [`shown`] shows it.
    #[track_caller]
    pub(crate) fn check(&mut self, line: &str, expected: &str) {
        let answer = self.say(line);
        assert_eq!(answer, expected, "{line} on {} shards", self.houses.len());
    }

    /// What a command line is answered, as [`shown`] shows it.
    #[track_caller]
    pub(crate) fn say(&mut self, line: &str) -> String {
        shown(&self.ask(line))
    }

    /// What a command line is answered.
    #[track_caller]
    pub(crate) fn ask(&mut self, line: &str) -> Value {
        let words = spec::setting::split_words(line.as_bytes()).expect("quotes are balanced");
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        self.value(&words)
    }

    /// What a command is answered.
    #[track_caller]
    pub(crate) fn value(&mut self, words: &[&[u8]]) -> Value {
        let reply = self.run(words);
        let whole = resp::client::decode(&reply).expect("the reply is well formed");
        let (value, length) = whole.expect("the reply is whole");
        assert_eq!(length, reply.len(), "one reply to {words:?}");
        value
    }

    /// The bytes that a command is answered.
    pub(crate) fn run(&mut self, words: &[&[u8]]) -> Vec<u8> {
        let (bytes, spans) = packed(words.iter().copied());
        let args = Args::new(&bytes, &spans);
        let mut out = Output::default();
        let mut reply = Reply::new(&mut out, self.session.version);
        if let Some(entry) = gate(args, &mut reply) {
            self.carry_out(entry, args, &mut reply);
            if let (true, Some(blocks)) = (out.is_empty(), entry.command.blocks) {
                // Nobody waits here.
                blocks.nothing(&mut Reply::new(&mut out, self.session.version));
            }
        }
        out.into_bytes()
    }

    /// Lets time pass.
    pub(crate) fn wait(&mut self, milliseconds: i64) {
        self.houses.iter_mut().for_each(|house| house.now += milliseconds);
    }

    /// The time.
    pub(crate) fn now(&self) -> i64 {
        self.houses[0].now
    }

    /// Effects of all commands so far.
    pub(crate) fn effects(&self) -> Effects {
        self.houses.iter().fold(Effects::default(), |sum, house| Effects {
            dirty: sum.dirty + house.effects.dirty,
            hits: sum.hits + house.effects.hits,
            misses: sum.misses + house.effects.misses,
            events: [sum.events, house.effects.events.clone()].concat(),
        })
    }

    /// Changes the settings of all shards.
    pub(crate) fn configure(&mut self, change: impl Fn(&mut spec::Live)) {
        self.houses.iter_mut().for_each(|house| change(&mut house.settings.live));
    }

    /// The shard of a key.
    pub(crate) fn owner(&self, key: &[u8]) -> usize {
        usize::from(spec::owner_of(spec::slot_of(key), self.houses.len() as u16))
    }

    fn caller(&self) -> Caller {
        Caller {
            client: self.session.id,
            db: self.session.db,
            version: self.session.version,
            no_touch: self.session.no_touch,
            watch_round: 0,
        }
    }

    fn facts(&self) -> Check {
        let live = &self.houses[0].settings.live;
        Check {
            now: self.now(),
            db: self.session.db,
            databases: live.databases as u16,
            string_bytes_max: live.proto_max_bulk_len as usize,
            hasher: self.houses[0].store.hasher().clone(),
        }
    }

    fn carry_out(&mut self, entry: &'static Entry, args: Args<'_>, reply: &mut Reply<'_>) {
        let caller = self.caller();
        if let Some(wide) = entry.command.wide
            && self.houses.len() > 1
            && (wide.when)(args)
        {
            return self.in_rounds(entry, wide, args, reply);
        }
        match entry.command.run {
            Run::Home(handler) => {
                let mut home = Home { session: &mut self.session, house: &mut self.houses[0] };
                self.after = handler(&mut home, args, reply);
            }
            Run::Journey(journey) => {
                let shards = self.houses.len() as u16;
                let (mut next, mut finds) =
                    (Some((journey.begin)(args, shards).min(shards - 1)), Finds::default());
                while let Some(shard) = next {
                    let mut ctx = self.houses[usize::from(shard)].ctx(caller);
                    next = (journey.visit)(&mut ctx, args, &mut finds, reply);
                }
            }
            Run::Everywhere(everywhere) => self.everywhere(everywhere, args, reply),
            Run::Local(_) | Run::Plan(_) => self.over_keys(entry, args, reply),
            Run::Publish(kind) => {
                let heard = |house: &mut TestHouse| house.topics.listeners(kind, args.get(1)) as i64;
                reply.integer(self.houses.iter_mut().map(heard).sum());
            }
            Run::Transaction(_) => unreachable!("transactions are tried with whole shards"),
            Run::Container => unreachable!("the gate goes on to the subcommand"),
        }
    }

    fn in_rounds(&mut self, entry: &Entry, wide: &Wide, args: Args<'_>, reply: &mut Reply<'_>) {
        let check = self.facts();
        if entry.command.check.is_some_and(|good| !good(&check, args, reply)) {
            return;
        }
        let (caller, mut told) = (self.caller(), Vec::new());
        loop {
            let mut parts = vec![Vec::new(); self.houses.len()];
            for (house, part) in self.houses.iter_mut().zip(&mut parts) {
                (wide.part)(&mut house.ctx(caller), args, &told, part);
            }
            let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
            match (wide.next)(&check, args, &told, &parts, reply) {
                Some(next) => told = next,
                None => return,
            }
        }
    }

    fn everywhere(&mut self, everywhere: &Everywhere, args: Args<'_>, reply: &mut Reply<'_>) {
        assert!(matches!(everywhere.lock, Lock::Nothing | Lock::Keyspace));
        let call = Call { caller: self.caller(), now: self.now() };
        let mut home = Home { session: &mut self.session, house: &mut self.houses[0] };
        match everywhere.prepare.map_or(Go::On, |prepare| prepare(&mut home, args, reply)) {
            Go::On => {}
            Go::Answered => return,
            Go::After(job) => self.houses[0].jobs.push(job),
        }
        let mut parts = vec![Vec::new(); self.houses.len()];
        for (house, part) in self.houses.iter_mut().zip(&mut parts) {
            (everywhere.part)(house, &call, args, part);
        }
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        let mut home = Home { session: &mut self.session, house: &mut self.houses[0] };
        self.after = (everywhere.fold)(&mut home, args, &parts, reply);
    }

    fn over_keys(&mut self, entry: &Entry, args: Args<'_>, reply: &mut Reply<'_>) {
        let mut keys = Vec::new();
        for shape in entry.command.keys {
            let _ = shape.visit(args.len(), |at| args.get(at), |at| keys.push(at));
        }
        let owners: Vec<usize> = keys.iter().map(|at| self.owner(args.get(*at))).collect();
        let first = owners.first().copied().unwrap_or(0);
        let caller = self.caller();
        let check = self.facts();
        let together = owners.iter().all(|owner| *owner == first);
        match entry.command.run {
            Run::Local(handler) if together => handler(&mut self.houses[first].ctx(caller), args, reply),
            Run::Plan(plan) if together => (plan.together)(&mut self.houses[first].ctx(caller), args, reply),
            _ if entry.command.check.is_some_and(|good| !good(&check, args, reply)) => {}
            Run::Local(_) => self.divided(entry, args, &keys, &owners, reply),
            Run::Plan(plan) => self.planned(plan, args, &keys, &owners, reply),
            _ => unreachable!("only these have keys"),
        }
    }

    fn divided(
        &mut self,
        entry: &Entry,
        args: Args<'_>,
        keys: &[usize],
        owners: &[usize],
        reply: &mut Reply<'_>,
    ) {
        let Run::Local(handler) = entry.command.run else { unreachable!("plans are not divided") };
        let caller = self.caller();
        let until = |place: usize| keys.get(place + 1).copied().unwrap_or(args.len());
        let share = |place: usize| (keys[place]..until(place)).map(|at| args.get(at));
        let mut answer = |shard: usize, words: Vec<&[u8]>| {
            let (bytes, spans) = packed(std::iter::once(args.get(0)).chain(words));
            let mut out = Output::default();
            let mut reply = Reply::new(&mut out, caller.version);
            handler(&mut self.houses[shard].ctx(caller), Args::new(&bytes, &spans), &mut reply);
            out.into_bytes()
        };
        if entry.command.spread == Spread::InKeyOrder {
            reply.array(keys.len());
            for (place, owner) in owners.iter().enumerate() {
                let part = answer(*owner, share(place).collect());
                reply.raw(part.strip_prefix(b"*1\r\n").expect("an array of one"));
            }
            return;
        }
        let mut sum = 0;
        let count = owners.iter().max().map_or(0, |last| last + 1);
        for shard in (0..count).filter(|shard| owners.contains(shard)) {
            let places = (0..keys.len()).filter(|place| owners[*place] == shard);
            let part = answer(shard, places.flat_map(share).collect());
            match resp::client::decode(&part).expect("well formed").expect("whole").0 {
                Value::Integer(number) if entry.command.spread == Spread::Sum => sum += number,
                Value::Simple(text) if entry.command.spread == Spread::AllOk => assert_eq!(text, "OK"),
                other => panic!("{} is not divided so: {other:?}", entry.full_name),
            }
        }
        match entry.command.spread {
            Spread::Sum => reply.integer(sum),
            _ => reply.ok(),
        }
    }

    fn planned(
        &mut self,
        plan: &Plan,
        args: Args<'_>,
        keys: &[usize],
        owners: &[usize],
        reply: &mut Reply<'_>,
    ) {
        let caller = self.caller();
        let mut pieces: Vec<Piece> = Vec::new();
        for (ordinal, (at, owner)) in keys.iter().zip(owners).enumerate() {
            let mut ctx = self.houses[*owner].ctx(caller);
            let key = ctx.key(args.get(*at));
            pieces.push((plan.gather)(&mut ctx, args, ordinal, key));
        }
        let Some(orders) = (plan.decide)(&self.facts(), args, &mut pieces, reply) else { return };
        assert_eq!(orders.len(), keys.len(), "one order a key");
        for ((at, owner), order) in keys.iter().zip(owners).zip(orders) {
            let mut ctx = self.houses[*owner].ctx(caller);
            let (db, key): (usize, Key<'_>) = (ctx.db(), ctx.key(args.get(*at)));
            match order {
                Order::Nothing => continue,
                Order::Remove(event) => {
                    assert!(ctx.store.remove(db, key, ctx.now));
                    ctx.notify(Events::GENERIC, event, key.bytes);
                }
                Order::Put { db, value, event: (class, name) } => {
                    ctx.store.attach(usize::from(db), key, value);
                    ctx.notify_in(db, class, name, key.bytes);
                }
                Order::Act(act, value) => {
                    act(&mut ctx, args, key, value);
                    continue;
                }
            }
            ctx.effects.dirty += 1;
        }
    }
}

/// The entry that runs; replies where none does.
fn gate(args: Args<'_>, reply: &mut Reply<'_>) -> Option<&'static Entry> {
    let Some(mut entry) = CATALOG.find(args.get(0)) else {
        reply.error_fmt(format_args!("ERR unknown command '{}'", args.text(0)));
        return None;
    };
    if !entry.subcommands.is_empty() && args.len() > 1 {
        let Some(sub) = CATALOG.subcommand(entry, args.get(1)) else {
            let (word, name) = (args.text(1), entry.command.name);
            reply.error_fmt(format_args!("ERR unknown subcommand '{word}'. Try {name} HELP."));
            return None;
        };
        entry = sub;
    }
    if !entry.runs_with(args.len()) {
        crate::number::wrong_arity(&entry.full_name, reply);
        return None;
    }
    Some(entry)
}

fn packed<'a>(words: impl IntoIterator<Item = &'a [u8]>) -> (Vec<u8>, Vec<Span>) {
    let (mut bytes, mut spans) = (Vec::new(), Vec::new());
    for word in words {
        spans.push(Span { start: bytes.len() as u32, len: word.len() as u32 });
        bytes.extend_from_slice(word);
    }
    (bytes, spans)
}

/// A reply in a line: `+OK`, `-ERR text`, `:1`, `$text`, `nil`, `[$a :1]`, `{$key: $value}`.
pub(crate) fn shown(value: &Value) -> String {
    let list = |values: &[Value]| values.iter().map(shown).collect::<Vec<_>>().join(" ");
    match value {
        Value::Simple(text) => format!("+{text}"),
        Value::Error(text) => format!("-{text}"),
        Value::Integer(number) => format!(":{number}"),
        Value::Bulk(bytes) => format!("${}", bytes.escape_ascii()),
        Value::Null => "nil".into(),
        Value::Array(values) => format!("[{}]", list(values)),
        Value::Map(pairs) => {
            let pair = |(key, value): &(Value, Value)| format!("{}: {}", shown(key), shown(value));
            format!("{{{}}}", pairs.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
        other => format!("{other:?}"),
    }
}

/// A client as it comes.
pub(crate) fn session(id: u64) -> SessionState {
    SessionState {
        id,
        place: id,
        remote: "127.0.0.1:50000".into(),
        local: "127.0.0.1:6379".into(),
        unix: false,
        fd: 8,
        name: Vec::new(),
        library: Vec::new(),
        library_version: Vec::new(),
        db: 0,
        version: Version::Resp2,
        authenticated: true,
        no_evict: false,
        no_touch: false,
        reply_mode: ReplyMode::On,
        since_ms: START,
        active_ms: START,
        last_command: None,
        query_bytes: 0,
        output_bytes: 0,
        queued: None,
        queued_bytes: 0,
        subscribed: [0; 3],
        listens: false,
        blocked: false,
        held: false,
        closing: false,
    }
}

impl House for TestHouse {
    fn now_ms(&self) -> i64 {
        self.now
    }
    fn now_us(&self) -> i64 {
        self.now * 1000
    }
    fn shard(&self) -> u16 {
        self.index
    }
    fn shards(&self) -> u16 {
        self.shards
    }
    fn catalog(&self) -> &'static Catalog {
        &CATALOG
    }
    fn settings(&self) -> &Settings {
        &self.settings
    }
    fn settings_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }
    fn store(&mut self) -> &mut Store {
        &mut self.store
    }
    fn ctx(&mut self, caller: Caller) -> Ctx<'_> {
        Ctx {
            store: &mut self.store,
            live: &self.settings.live,
            now: self.now,
            caller,
            seat: crate::Seat { shard: self.index, shards: self.shards },
            random: &mut self.random,
            effects: &mut self.effects,
            watched: &mut self.watched,
            hashed: crate::Hashed::NONE,
        }
    }
    fn topics(&mut self) -> &mut crate::Topics {
        &mut self.topics
    }
    fn random(&mut self) -> &mut Random {
        &mut self.random
    }
    fn blocks(&self) -> &[Arc<Block>] {
        &self.blocks
    }
    fn totals(&mut self) -> Snapshot {
        Snapshot::of(self.blocks.iter().map(|block| &**block))
    }
    fn reset_totals(&mut self) {}
    fn sessions(&mut self, visit: &mut dyn FnMut(&mut SessionState)) {
        self.others.iter_mut().for_each(visit);
    }
    fn kill(&mut self, id: u64) -> bool {
        let before = self.others.len();
        self.others.retain(|other| other.id != id);
        self.others.len() < before
    }
    fn unblock(&mut self, id: u64, _: bool) -> bool {
        let other = self.others.iter_mut().find(|other| other.id == id && other.blocked);
        other.map(|other| other.blocked = false).is_some()
    }
    fn pause(&mut self, until: Option<(i64, PauseMode)>) {
        self.pause = until;
    }
    fn active_expiry(&mut self, on: bool) {
        self.active_expiry = on;
    }
    fn pause_cron(&mut self, paused: bool) {
        self.active_expiry = !paused;
    }
    fn facts(&self) -> &Facts {
        &self.facts
    }
    fn order(&mut self, job: Job) {
        self.jobs.push(job);
    }
}
