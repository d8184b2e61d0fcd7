//! What a handler that runs where the client is may touch: the client's session and the shard as a
//! house. It does not know how shards talk.

use crate::catalog::Catalog;
use crate::context::{Ctx, Random};
use crate::pubsub::{TopicKind, Topics};
use resp::Version;
use spec::Settings;
use std::sync::Arc;
use store::Store;
use telemetry::{Block, Snapshot};

/// What replies a client wants (CLIENT REPLY).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ReplyMode {
    /// All.
    #[default]
    On,
    /// None.
    Off,
    /// Not the next one.
    SkipNext,
    /// Not this one.
    Skip,
}

/// Which traffic CLIENT PAUSE stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PauseMode {
    /// Commands that write.
    Write,
    /// All commands.
    All,
}

/// What is known of a client: everything CLIENT LIST shows.
#[derive(Clone, Debug)]
pub struct SessionState {
    /// Unique while the server runs.
    pub id: u64,
    /// Where its shard keeps it: unique while it is there.
    pub place: u64,
    /// Far end, as text.
    pub remote: String,
    /// Our end, as text.
    pub local: String,
    /// Dialled by Unix socket.
    pub unix: bool,
    /// File descriptor, -1 where there is none.
    pub fd: i32,
    /// CLIENT SETNAME.
    pub name: Vec<u8>,
    /// CLIENT SETINFO LIB-NAME.
    pub library: Vec<u8>,
    /// CLIENT SETINFO LIB-VER.
    pub library_version: Vec<u8>,
    /// The selected database.
    pub db: u16,
    /// The protocol.
    pub version: Version,
    /// May run commands (AUTH done or not needed).
    pub authenticated: bool,
    /// CLIENT NO-EVICT.
    pub no_evict: bool,
    /// CLIENT NO-TOUCH.
    pub no_touch: bool,
    /// CLIENT REPLY.
    pub reply_mode: ReplyMode,
    /// Unix time in milliseconds when it came.
    pub since_ms: i64,
    /// Unix time in milliseconds of its last command.
    pub active_ms: i64,
    /// Catalog number of its last command.
    pub last_command: Option<u16>,
    /// Bytes of unparsed input held.
    pub query_bytes: usize,
    /// Bytes of replies not yet taken by the wire.
    pub output_bytes: usize,
    /// Commands queued behind MULTI; `None`: it is in no transaction.
    pub queued: Option<usize>,
    /// Bytes of their arguments.
    pub queued_bytes: usize,
    /// Subscriptions by kind: channels, patterns, shard channels.
    pub subscribed: [u32; 3],
    /// There are any.
    pub listens: bool,
    /// Waits in a blocking command.
    pub blocked: bool,
    /// Waits for an answer, a pause or a timer.
    pub held: bool,
    /// To be closed once its replies are sent.
    pub closing: bool,
}

impl SessionState {
    /// Has one subscription more of a kind, or one less.
    pub fn count_subscription(&mut self, kind: TopicKind, more: bool) {
        let count = &mut self.subscribed[kind as usize];
        *count = if more { *count + 1 } else { *count - 1 };
        self.listens = self.subscribed != [0; 3];
    }

    /// Listens with the protocol in which messages look like replies: it may say little else.
    pub fn only_listens(&self) -> bool {
        self.listens && self.version == Version::Resp2
    }

    /// Came from this machine.
    pub fn is_local(&self) -> bool {
        let remote = self.remote.as_str();
        self.unix || ["127.", "[::1]", "memory:"].iter().any(|start| remote.starts_with(start))
    }
}

/// Who asked, for a part on another shard.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Who asked.
    pub caller: crate::context::Caller,
    /// Unix time in milliseconds.
    pub now: i64,
}

/// A task for the house outside the data cores; the client waits for its outcome.
#[derive(Clone, Debug)]
pub enum Job {
    /// Write the settings to the configuration file (CONFIG REWRITE).
    RewriteConfig(Box<Settings>),
    /// Stop the server (SHUTDOWN).
    Shutdown {
        /// Do not wait for anything.
        now: bool,
    },
    /// Crash on purpose (DEBUG PANIC, DEBUG SEGFAULT): the whole process ends loudly.
    Crash,
    /// A setting that the house watches has changed: name and value. Not waited for.
    SettingChanged(&'static str, String),
    /// Carry out what these settings ask of the house (listen, change directory), all or nothing. The
    /// error is CONFIG SET's.
    ApplySettings {
        /// Those that change.
        names: Vec<&'static str>,
        /// All settings as they are to be.
        settings: Box<Settings>,
    },
    /// Ask the allocator for what it need not keep (MEMORY PURGE).
    PurgeMemory,
    /// A line for the log (DEBUG LOG). Not waited for.
    Log(String),
}

/// What is to be done after a `Home` handler.
#[derive(Clone, Debug)]
pub enum After {
    /// Nothing.
    Done,
    /// Hold the client's later commands (and this reply) until that time in unix milliseconds.
    HoldUntil(i64),
    /// Close the connection once the reply is sent.
    Close,
    /// Have the job done; `+OK` or the job's error is the reply.
    Work(Job),
}

/// What the allocator has given out, in bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct AllocatorFigures {
    /// Asked of it.
    pub allocated: u64,
    /// Of the pages that this lies on.
    pub active: u64,
    /// Resident, unused pages included.
    pub resident: u64,
}

/// What can be asked of the allocator.
#[derive(Clone, Copy, Debug)]
pub struct AllocatorTools {
    /// Its figures now.
    pub figures: fn() -> AllocatorFigures,
    /// Its own report.
    pub report: fn() -> String,
}

/// Facts about the process that only the house knows; INFO prints them.
#[derive(Clone, Default, Debug)]
pub struct Facts {
    /// Corelane's version.
    pub corelane_version: String,
    /// 40 hexadecimal digits, new at each start.
    pub run_id: String,
    /// The common TCP port.
    pub tcp_port: u16,
    /// Process id.
    pub process_id: u32,
    /// Operating system, as INFO's `os`.
    pub os: String,
    /// Unix time in milliseconds of the start.
    pub started_ms: i64,
    /// Path of the executable.
    pub executable: String,
    /// Path of the configuration file, empty where there is none.
    pub config_file: String,
    /// The compiler's version.
    pub compiler: String,
    /// Total memory of the machine in bytes.
    pub total_system_memory: u64,
    /// The memory allocator with its version.
    pub allocator: String,
    /// Memory of the process: resident bytes now; asked for by INFO.
    pub resident_bytes: Option<fn() -> u64>,
    /// What can be asked of the allocator.
    pub allocator_tools: Option<AllocatorTools>,
    /// CPU seconds of the process: (system, user, system of children, user of children).
    pub cpu_seconds: Option<fn() -> [f64; 4]>,
}

/// A shard as its own commands see it.
pub trait House {
    /// Unix time in milliseconds.
    fn now_ms(&self) -> i64;
    /// Unix time in microseconds (TIME).
    fn now_us(&self) -> i64;
    /// This shard.
    fn shard(&self) -> u16;
    /// How many shards there are.
    fn shards(&self) -> u16;
    /// All commands.
    fn catalog(&self) -> &'static Catalog;
    /// This shard's copy of the settings.
    fn settings(&self) -> &Settings;
    /// The same, to be changed; the house is told of watched ones by the caller.
    fn settings_mut(&mut self) -> &mut Settings;
    /// This shard's slice of the keyspace.
    fn store(&mut self) -> &mut Store;
    /// A handler's context on this shard.
    fn ctx(&mut self, caller: crate::context::Caller) -> Ctx<'_>;
    /// Who listens to what.
    fn topics(&mut self) -> &mut Topics;
    /// Random numbers.
    fn random(&mut self) -> &mut Random;
    /// Counters of every shard, readable by all.
    fn blocks(&self) -> &[Arc<Block>];
    /// All shards' numbers since the start or the last CONFIG RESETSTAT; this shard's gauges are fresh.
    fn totals(&mut self) -> Snapshot;
    /// Starts `totals` anew (CONFIG RESETSTAT).
    fn reset_totals(&mut self);
    /// Visits this shard's clients, except the one whose command is running here.
    fn sessions(&mut self, visit: &mut dyn FnMut(&mut SessionState));
    /// Closes a client of this shard (not the running one).
    fn kill(&mut self, id: u64) -> bool;
    /// Ends the wait of a client of this shard in a blocking command, with an error or as if its time were
    /// over. Whether it waited.
    fn unblock(&mut self, id: u64, error: bool) -> bool;
    /// Stops commands until a time in unix milliseconds, or (`None`) no longer.
    fn pause(&mut self, until: Option<(i64, PauseMode)>);
    /// Turns active expiry on or off (DEBUG SET-ACTIVE-EXPIRE).
    fn active_expiry(&mut self, on: bool);
    /// Stops (or resumes) what this shard does periodically (DEBUG PAUSE-CRON).
    fn pause_cron(&mut self, paused: bool);
    /// Facts about the process.
    fn facts(&self) -> &Facts;
    /// Has a job done that nobody waits for.
    fn order(&mut self, job: Job);
}

/// What a `Home` handler works with.
pub struct Home<'a> {
    /// The client.
    pub session: &'a mut SessionState,
    /// The shard.
    pub house: &'a mut dyn House,
}
