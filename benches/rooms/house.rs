//! Whole cores in this one thread, with a transport without a wire before each: what a request passes
//! through, from the bytes of a client to the bytes of its reply. It knows no command.

use corelane::config::Config;
use corelane::core::{Core, Letters, Parts, letter_box};
use corelane::idle::{Idle, Waker};
use memory::{Connector, MemoryConfig, MemoryPoller, MemoryWire};
use mesh::{Receiver, Sender};
use port::{Chunk, Close, Event, LinkId, Poller, PollerStats};
use shard::{Make, Parcel, Shard};
use std::os::fd::RawFd;
use std::sync::{Arc, mpsc};
use store::{Hasher, Store};
use telemetry::Block;

const RING_PARCELS: usize = 1024;

/// Cores and the ways to dial them.
pub(crate) struct House {
    cores: Vec<Core>,
    connectors: Vec<Connector>,
    /// What cores ask of a house that has no files: nothing here.
    _requests: mpsc::Receiver<corelane::core::Request>,
}

/// What is the same for every core of a house.
struct Common {
    config: Config,
    catalog: &'static commands::Catalog,
    blocks: Vec<Arc<Block>>,
    board: Arc<mesh::Board>,
    wakers: Vec<Waker>,
    requests: mpsc::Sender<corelane::core::Request>,
}

impl House {
    /// A house of so many shards, with seeds that never change.
    pub(crate) fn new(shards: usize) -> House {
        let catalog: &'static commands::Catalog =
            Box::leak(Box::new(commands::Catalog::new(&commands::all())));
        let (requests, inbox) = mpsc::channel();
        let common = Common {
            config: Config::new(),
            catalog,
            blocks: (0..shards).map(|_| Arc::new(Block::new(catalog.entries().len()))).collect(),
            board: mesh::Board::new(shards),
            wakers: (0..shards).map(|_| Waker::new().expect("a descriptor is left")).collect(),
            requests,
        };
        let (senders, inboxes) = rings(shards);
        let (mut cores, mut connectors) = (Vec::new(), Vec::new());
        for (index, ends) in senders.into_iter().zip(inboxes).enumerate() {
            let (core, connector) = common.core(index, ends);
            cores.push(core);
            connectors.push(connector);
        }
        House { cores, connectors, _requests: inbox }
    }

    /// A client of that core.
    pub(crate) fn dial(&mut self, core: usize) -> MemoryWire {
        let wire = self.connectors[core].dial().expect("the house accepts");
        self.tick();
        wire
    }

    /// One pass of every core.
    pub(crate) fn tick(&mut self) {
        self.cores.iter_mut().for_each(|core| {
            core.tick();
        });
    }
}

type Ends = (Vec<Option<Sender<Parcel>>>, Vec<Receiver<Parcel>>);

impl Common {
    fn core(&self, index: usize, (senders, inboxes): Ends) -> (Core, Connector) {
        let poller = MemoryPoller::new(MemoryConfig::default());
        let connector = poller.connector();
        // Nobody writes letters in this house.
        let (_, letters): (_, Letters) = letter_box(self.wakers[index].clone());
        let shard = Shard::new(Make {
            index: index as u16,
            shards: self.blocks.len() as u16,
            catalog: self.catalog,
            settings: self.config.settings.clone(),
            store: Store::new(Hasher::new([1, 2, 3, 4]), 16),
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
            empty_cores: std::sync::atomic::AtomicUsize::new(0).into(),
        });
        (core, connector)
    }
}

fn rings(shards: usize) -> (Vec<Vec<Option<Sender<Parcel>>>>, Vec<Vec<Receiver<Parcel>>>) {
    let mut senders: Vec<Vec<_>> = (0..shards).map(|_| Vec::new()).collect();
    let mut inboxes: Vec<Vec<_>> = (0..shards).map(|_| Vec::new()).collect();
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
