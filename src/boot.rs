//! Start, watch, drain, stop: lays the house out over the machine, and looks after it until it ends.

use crate::admin;
use crate::apply::Outside;
use crate::config::{self, Config};
use crate::core::{Core, Letter, LetterBox, Letters, Parts, Request, letter_box};
use crate::idle::{Idle, Waker};
use crate::keeper::Keeper;
use crate::listeners::{self, Doors};
use crate::log::Log;
use crate::topology::Topology;
use crate::transports;
use commands::{Catalog, Facts};
use mesh::{Board, Receiver, Sender};
use port::sockets::SocketOptions;
use shard::{Make, Parcel, Shard};
use spec::Settings;
use spec::setting::{HashFunction, Poll};
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;
use store::{Hasher, Store};
use telemetry::Block;

/// Parcels that a ring between two shards holds, and what all rings to one shard hold together at most:
/// with many shards each ring is smaller.
const RING_PARCELS: usize = 1024;
const INBOX_PARCELS: usize = 16 * 1024;

/// What reaches the thread that looks after the house.
#[derive(Debug)]
pub enum Note {
    /// A core wants something done.
    Request(Request),
    /// A signal came.
    Signal(i32),
    /// A core has ended.
    Ended(usize),
}

/// A server that runs.
pub struct House {
    /// Letters to each core.
    pub boxes: Vec<LetterBox>,
    /// Counters of each shard.
    pub blocks: Vec<Arc<Block>>,
    /// All commands.
    pub catalog: &'static Catalog,
    /// Facts for INFO.
    pub facts: Arc<Facts>,
    threads: Vec<JoinHandle<()>>,
}

/// The outcome of a core's set-up: its driver and the story of it.
type Ready = Result<(String, String), String>;

/// What one core's thread needs to build itself.
struct Plan {
    index: u16,
    shards: u16,
    cpu: Option<usize>,
    settings: Settings,
    listeners: Vec<OwnedFd>,
    options: SocketOptions,
    senders: Vec<Option<Sender<Parcel>>>,
    inboxes: Vec<Receiver<Parcel>>,
    wakers: Vec<Waker>,
    letters: Letters,
    requests: mpsc::Sender<Request>,
    blocks: Vec<Arc<Block>>,
    board: Arc<Board>,
    catalog: &'static Catalog,
    facts: Arc<Facts>,
    hasher: Hasher,
    seed: u64,
    idle: Idle,
    empty_cores: Arc<AtomicUsize>,
}

/// Starts the server and looks after it until it ends. The process's exit code.
///
/// # Errors
/// What keeps it from starting, in words for the operator.
pub fn serve(mut config: Config, log: Log) -> Result<(), String> {
    let settings = &config.settings;
    let cpus = config::cpus::list(settings.value("cpu").text()).unwrap_or_default();
    let topology = Topology::read(&cpus)?;
    let shards = match settings.value("shards").number() {
        number if number > 0 => number as usize,
        _ if !cpus.is_empty() => cpus.len().min(256),
        _ => topology.shards(),
    };
    let connections = crate::limits::raise_descriptors(settings.live.maxclients, shards)?;
    if connections < u64::from(settings.live.maxclients) {
        // As Redis has it: whoever comes above what the system allows is told so, not left to wait.
        let fewer = connections.to_string();
        let set = config.settings.set(&[(b"maxclients", fewer.as_bytes())], true);
        set.map_err(|_| format!("maxclients cannot be {fewer}"))?;
    }
    let settings = &config.settings;
    let options = transports::socket_options(settings, connections);
    let doors = listeners::open(settings, shards, &options)?;
    crate::report::hook_panics();
    let (notes, inbox) = mpsc::channel();
    let outside = Outside::new(&doors, options.clone(), shards);
    let mut keeper = Keeper::new(&config, &doors, outside, inbox, log)?;
    keeper.catch_signals(&notes)?;
    let house = start(&config, &topology, shards, options, doors, &notes)?;
    let house = Arc::new(house);
    keeper.open_control_port(&house)?;
    keeper.announce(&house);
    keeper.keep(&house);
    Ok(())
}

/// A ring for every ordered pair of shards: each one's senders by receiver, and receivers.
#[expect(clippy::type_complexity, reason = "a matrix of ends")]
fn rings(shards: usize) -> (Vec<Vec<Option<Sender<Parcel>>>>, Vec<Vec<Receiver<Parcel>>>) {
    let mut senders: Vec<Vec<Option<Sender<Parcel>>>> = (0..shards).map(|_| Vec::new()).collect();
    let mut inboxes: Vec<Vec<Receiver<Parcel>>> = (0..shards).map(|_| Vec::new()).collect();
    let capacity = (INBOX_PARCELS / shards).next_power_of_two().min(RING_PARCELS);
    for (from, senders) in senders.iter_mut().enumerate() {
        for (to, inboxes) in inboxes.iter_mut().enumerate() {
            if from == to {
                senders.push(None);
                continue;
            }
            let (sender, receiver) = mesh::ring(capacity);
            senders.push(Some(sender));
            inboxes.push(receiver);
        }
    }
    (senders, inboxes)
}

fn start(
    config: &Config,
    topology: &Topology,
    shards: usize,
    options: SocketOptions,
    doors: Doors,
    notes: &mpsc::Sender<Note>,
) -> Result<House, String> {
    let catalog: &'static Catalog = Box::leak(Box::new(Catalog::new(&commands::all())));
    let blocks: Vec<Arc<Block>> =
        (0..shards).map(|_| Arc::new(Block::new(catalog.entries().len()))).collect();
    let board = Board::new(shards);
    let wakers: Vec<Waker> = (0..shards).map(|_| Waker::new()).collect::<io::Result<_>>().map_err(text)?;
    let (senders, inboxes) = rings(shards);
    let secrets = secrets(&config.settings).map_err(|error| format!("no random numbers: {error}"))?;
    let facts = Arc::new(crate::report::facts(config, doors.port, secrets.run_id));
    let requests = forward(notes)?;
    let (ready, readies) = mpsc::channel::<(usize, Ready)>();
    let mut boxes = Vec::new();
    let mut threads = Vec::new();
    let alone = topology.may_spin(shards);
    let pin = config.settings.value("pin").flag();
    let mut goes = Vec::new();
    let empty_cores = Arc::new(AtomicUsize::new(0));
    for (index, ((senders, inboxes), listeners)) in
        senders.into_iter().zip(inboxes).zip(doors.listeners).enumerate()
    {
        let (letters_in, letters) = letter_box(wakers[index].clone());
        boxes.push(letters_in);
        let plan = Plan {
            index: index as u16,
            shards: shards as u16,
            cpu: pin.then(|| topology.cpus[index % topology.cpus.len()].number),
            settings: config.settings.clone(),
            listeners,
            options: options.clone(),
            senders,
            inboxes,
            wakers: wakers.clone(),
            letters,
            requests: requests.clone(),
            blocks: blocks.clone(),
            board: board.clone(),
            catalog,
            facts: facts.clone(),
            hasher: secrets.hasher.clone(),
            seed: secrets.seed.wrapping_add(index as u64),
            idle: Idle::new(config.settings.live.poll, alone, config.settings.value("poll-spin-us").count()),
            empty_cores: empty_cores.clone(),
        };
        let (go, wait) = mpsc::channel::<()>();
        goes.push(go);
        let (ready, notes) = (ready.clone(), notes.clone());
        let thread = std::thread::Builder::new()
            .name(format!("shard-{index}"))
            .spawn(move || run_core(plan, index, &ready, &wait, &notes))
            .map_err(text)?;
        threads.push(thread);
    }
    drop(ready);
    await_all(&readies, shards, &blocks)?;
    for go in goes {
        // A core that is gone has said why already.
        let _ = go.send(());
    }
    Ok(House { boxes, blocks, catalog, facts, threads })
}

fn await_all(
    readies: &mpsc::Receiver<(usize, Ready)>,
    shards: usize,
    blocks: &[Arc<Block>],
) -> Result<(), String> {
    for _ in 0..shards {
        let (index, outcome) = readies.recv().map_err(|_| "a core ended before it began".to_owned())?;
        let (driver, story) = outcome.map_err(|error| format!("shard {index}: {error}"))?;
        tracing::info!("shard {index}: {story}");
        blocks[index].name_driver(&driver, &story);
    }
    Ok(())
}

/// Requests of cores arrive as notes.
fn forward(notes: &mpsc::Sender<Note>) -> Result<mpsc::Sender<Request>, String> {
    let (sender, receiver) = mpsc::channel();
    let notes = notes.clone();
    std::thread::Builder::new()
        .name("requests".to_owned())
        .spawn(move || {
            for request in receiver {
                if notes.send(Note::Request(request)).is_err() {
                    break;
                }
            }
        })
        .map_err(text)?;
    Ok(sender)
}

/// The life of a core's thread.
fn run_core(
    plan: Plan,
    index: usize,
    ready: &mpsc::Sender<(usize, Ready)>,
    go: &mpsc::Receiver<()>,
    notes: &mpsc::Sender<Note>,
) {
    match build(plan) {
        Err(error) => drop(ready.send((index, Err(error)))),
        Ok((mut core, driver, story)) => {
            drop(ready.send((index, Ok((driver, story)))));
            // An error means that another core could not start.
            if go.recv().is_ok() {
                core.run();
                drop(notes.send(Note::Ended(index)));
            }
        }
    }
}

/// Builds a core on its own, pinned thread, so that its memory is touched first where it is used.
fn build(plan: Plan) -> Result<(Core, String, String), String> {
    if let Some(cpu) = plan.cpu {
        affinity::set_thread_affinity([cpu]).map_err(|error| format!("cannot pin to CPU {cpu}: {error}"))?;
    }
    let chosen = transports::choose(&plan.settings, plan.listeners, plan.options).map_err(text)?;
    let store = Store::new(plan.hasher, plan.settings.live.databases as usize);
    let shard = Shard::new(Make {
        index: plan.index,
        shards: plan.shards,
        catalog: plan.catalog,
        settings: plan.settings,
        store,
        seed: plan.seed,
        board: plan.board,
        blocks: plan.blocks.clone(),
        facts: plan.facts,
    });
    let core = Core::new(Parts {
        shard,
        pollers: chosen.pollers,
        senders: plan.senders,
        inboxes: plan.inboxes,
        wakers: plan.wakers,
        letters: plan.letters,
        requests: plan.requests,
        blocks: plan.blocks,
        idle: plan.idle,
        empty_cores: plan.empty_cores,
    });
    let place = plan.cpu.map_or("not pinned".to_owned(), |cpu| format!("CPU {cpu}"));
    Ok((core, chosen.driver, format!("{place}, {}", chosen.story)))
}

/// Random numbers of one run.
struct Secrets {
    hasher: Hasher,
    seed: u64,
    run_id: String,
}

fn secrets(settings: &Settings) -> Result<Secrets, getrandom::Error> {
    let mut words = [0u64; 8];
    for word in &mut words {
        *word = getrandom::u64()?;
    }
    let [a, b, c, d, seed, x, y, z] = words;
    let function = match HashFunction::at(settings.value("hash-function").choice()) {
        HashFunction::Ahash => store::HashFunction::Ahash,
        HashFunction::Siphash => store::HashFunction::Siphash,
    };
    let hasher = Hasher::with_function(function, [a, b, c, d]);
    let run_id = format!("{x:016x}{y:016x}{z:016x}")[..40].to_owned();
    Ok(Secrets { hasher, seed, run_id })
}

impl House {
    /// Tells every core to stop, and how long clients may take for what is due to them.
    pub fn stop(&self, drain: Duration) {
        self.boxes.iter().for_each(|core| core.post(Letter::Stop { drain }));
    }

    /// How many shards there are.
    pub fn shards(&self) -> usize {
        self.boxes.len()
    }

    /// Their threads, for joining.
    pub fn threads(&self) -> &[JoinHandle<()>] {
        &self.threads
    }
}

/// The control port's view of the house.
pub struct Visitor {
    house: Arc<House>,
    names: &'static [&'static str],
    settings: Settings,
}

impl Visitor {
    /// A view of this house.
    pub fn new(house: Arc<House>, settings: Settings) -> Visitor {
        let names: Vec<&'static str> = house.catalog.full_names();
        Visitor { house, names: Vec::leak(names), settings }
    }
}

impl admin::House for Visitor {
    fn shards(&self) -> usize {
        self.house.shards()
    }

    fn block(&self, shard: usize) -> Arc<Block> {
        self.house.blocks[shard].clone()
    }

    fn command_names(&self) -> &'static [&'static str] {
        self.names
    }

    fn visit(&self, shard: usize, timeout: Duration) -> bool {
        let (answer, wait) = mpsc::sync_channel(1);
        self.house.boxes[shard].post(Letter::Visit(answer));
        wait.recv_timeout(timeout).is_ok()
    }

    fn info(&self) -> admin::HouseInfo {
        crate::report::house_info(&self.house, &self.settings)
    }
}

/// Where the control port listens, if it does.
pub fn control_address(settings: &Settings) -> Option<SocketAddr> {
    let port = settings.value("control-port").count() as u16;
    let bind = config::addresses::Bind::parse(settings.value("control-bind").text())?;
    (port > 0).then(|| SocketAddr::new(bind.address, port))
}

fn text(error: io::Error) -> String {
    error.to_string()
}

/// The policy that a core starts with, in words for the log.
pub fn poll_words(settings: &Settings) -> &'static str {
    match settings.live.poll {
        Poll::Busy => "busy",
        Poll::Adaptive => "adaptive",
        Poll::Sleep => "sleep",
    }
}
