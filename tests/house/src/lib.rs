//! Whole cores in this one thread, with a transport without a wire before each: what a request passes
//! through, from the bytes of a client to the bytes of its reply. It knows no command.

#![forbid(unsafe_code)]

use commands::{Catalog, Job};
use corelane::config::Config;
use corelane::core::{Core, Letter, LetterBox, Letters, Parts, Request, letter_box};
use corelane::idle::{Idle, Waker};
use memory::{Connector, MemoryConfig, MemoryPoller, MemoryWire};
use mesh::{Board, Receiver, Sender};
use port::{Chunk, Close, Event, LinkId, Poller, PollerStats};
use shard::{Make, Parcel, Shard};
use std::os::fd::RawFd;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock, mpsc};
use store::{Hasher, Store};
use telemetry::Block;

const RING_PARCELS: usize = 1024;

/// Cores and the ways to dial them.
pub struct House {
    cores: Vec<Core>,
    connectors: Vec<Connector>,
    boxes: Vec<LetterBox>,
    blocks: Vec<Arc<Block>>,
    /// What cores ask of the house.
    requests: mpsc::Receiver<Request>,
    /// A client asked for SHUTDOWN or a crash; this house goes on all the same.
    pub asked_to_end: bool,
}

/// What is the same for every core of a house.
struct Common {
    config: Config,
    wires: MemoryConfig,
    blocks: Vec<Arc<Block>>,
    board: Arc<Board>,
    wakers: Vec<Waker>,
    requests: mpsc::Sender<Request>,
    empty_cores: Arc<AtomicUsize>,
}

/// All commands; made once.
pub fn catalog() -> &'static Catalog {
    static CATALOG: OnceLock<Catalog> = OnceLock::new();
    CATALOG.get_or_init(|| Catalog::new(&commands::all()))
}

impl House {
    /// A house of so many shards, with seeds that never change, and settings as changed by `configure`.
    pub fn new(shards: usize, wires: MemoryConfig, configure: impl FnOnce(&mut Config)) -> House {
        let mut config = Config::new();
        configure(&mut config);
        let (requests, inbox) = mpsc::channel();
        let common = Common {
            config,
            wires,
            blocks: (0..shards).map(|_| Arc::new(Block::new(catalog().entries().len()))).collect(),
            board: Board::new(shards),
            wakers: (0..shards).map(|_| Waker::new().expect("a descriptor is left")).collect(),
            requests,
            empty_cores: Arc::default(),
        };
        let (senders, inboxes) = rings(shards);
        let mut house = House {
            cores: Vec::new(),
            connectors: Vec::new(),
            boxes: Vec::new(),
            blocks: common.blocks.clone(),
            requests: inbox,
            asked_to_end: false,
        };
        for (index, ends) in senders.into_iter().zip(inboxes).enumerate() {
            let (letters_in, letters) = letter_box(common.wakers[index].clone());
            let (core, connector) = common.core(index, ends, letters);
            house.cores.push(core);
            house.connectors.push(connector);
            house.boxes.push(letters_in);
        }
        house
    }

    /// A client of that core.
    pub fn dial(&mut self, core: usize) -> MemoryWire {
        let wire = self.connectors[core].dial().expect("the house accepts");
        self.tick();
        wire
    }

    /// The counters of every core.
    pub fn blocks(&self) -> &[Arc<Block>] {
        &self.blocks
    }

    /// One pass of every core.
    pub fn tick(&mut self) {
        for core in &mut self.cores {
            core.tick();
        }
    }

    /// Does what cores asked of the house since the last time, which is nothing but to say so.
    pub fn run_errands(&mut self) {
        for request in self.requests.try_iter() {
            self.asked_to_end |= matches!(request.job, Job::Shutdown { .. } | Job::Crash);
            if let Some(ticket) = request.ticket {
                self.boxes[request.core].post(Letter::JobDone(ticket, Ok(())));
            }
        }
    }
}

/// One core's rings to every shard by number, none to itself.
type Senders = Vec<Option<Sender<Parcel>>>;
/// One core's rings from every other shard.
type Inboxes = Vec<Receiver<Parcel>>;
type Ends = (Senders, Inboxes);

impl Common {
    fn core(&self, index: usize, (senders, inboxes): Ends, letters: Letters) -> (Core, Connector) {
        let poller = MemoryPoller::new(self.wires.clone());
        let connector = poller.connector();
        let shard = Shard::new(Make {
            index: index as u16,
            shards: self.blocks.len() as u16,
            catalog: catalog(),
            settings: self.config.settings.clone(),
            store: Store::new(Hasher::new([1, 2, 3, 4]), self.config.settings.live.databases as usize),
            seed: 7,
            board: self.board.clone(),
            blocks: self.blocks.clone(),
            facts: Arc::default(),
        });
        let core = Core::new(Parts {
            shard,
            pollers: vec![Box::new(Flushed(poller))],
            senders,
            inboxes,
            wakers: self.wakers.clone(),
            letters,
            requests: self.requests.clone(),
            blocks: self.blocks.clone(),
            idle: Idle::new(spec::setting::Poll::Busy, true, 0),
            empty_cores: self.empty_cores.clone(),
        });
        (core, connector)
    }
}

fn rings(shards: usize) -> (Vec<Senders>, Vec<Inboxes>) {
    let mut senders: Vec<Senders> = (0..shards).map(|_| Vec::new()).collect();
    let mut inboxes: Vec<Inboxes> = (0..shards).map(|_| Vec::new()).collect();
    for (from, row) in senders.iter_mut().enumerate() {
        for (to, inbox) in inboxes.iter_mut().enumerate() {
            if from == to {
                row.push(None);
                continue;
            }
            let (sender, receiver) = mesh::ring(RING_PARCELS);
            row.push(Some(sender));
            inbox.push(receiver);
        }
    }
    (senders, inboxes)
}

/// The doorbell belongs to `Core::run`, which never returns; here it is rung before the next harvest.
struct Flushed(MemoryPoller);

impl Poller for Flushed {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn poll(&mut self, budget: usize, events: &mut Vec<Event>) {
        self.0.flush();
        self.0.poll(budget, events);
    }
    fn lease(&mut self, link: LinkId, at_least: usize) -> Option<Chunk> {
        self.0.lease(link, at_least)
    }
    fn submit(&mut self, link: LinkId, chunk: Chunk) {
        self.0.submit(link, chunk);
    }
    fn recycle(&mut self, chunk: Chunk) {
        self.0.recycle(chunk);
    }
    fn flush(&mut self) {
        self.0.flush();
    }
    fn close(&mut self, link: LinkId, how: Close) {
        self.0.close(link, how);
    }
    fn throttle(&mut self, link: LinkId, stop: bool) {
        self.0.throttle(link, stop);
    }
    fn chunk_size(&self) -> usize {
        self.0.chunk_size()
    }
    fn stop_accepting(&mut self) {
        self.0.stop_accepting();
    }
    fn links(&self) -> usize {
        self.0.links()
    }
    fn stats(&self) -> PollerStats {
        self.0.stats()
    }
    fn sleep_on(&self) -> Option<RawFd> {
        self.0.sleep_on()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_answered_on_one_shard_and_on_two() {
        for shards in 1..=2 {
            let mut house = House::new(shards, MemoryConfig::default(), |_| ());
            let mut wire = house.dial(0);
            wire.send(b"MSET a 1 b 2\r\nMGET a b\r\n");
            (0..10).for_each(|_| house.tick());
            let mut heard = Vec::new();
            wire.receive(&mut heard);
            assert_eq!(heard.escape_ascii().to_string(), "+OK\\r\\n*2\\r\\n$1\\r\\n1\\r\\n$1\\r\\n2\\r\\n");
        }
    }
}
