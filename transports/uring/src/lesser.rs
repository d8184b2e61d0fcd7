//! The contract over the rings that older kernels and stricter limits leave; the best ring is held to it
//! in the workspace's own transports test.

use crate::datapath::UringPoller;
use crate::setup::{Mode, try_ring};
use port::contract::{Rig, SocketWire, Wire};
use port::sockets::{ListenOn, SocketOptions, listen, local_address};
use port::{Address, Poller};
use std::cell::RefCell;

struct Lesser {
    mode: Mode,
    entries: u32,
    address: RefCell<Option<Address>>,
}

impl Lesser {
    fn new(mode: Mode, entries: u32) -> Lesser {
        Lesser { mode, entries, address: RefCell::new(None) }
    }
}

impl Rig for Lesser {
    type Poller = UringPoller;

    fn build(&self) -> UringPoller {
        let options = SocketOptions::default();
        let on = ListenOn::Tcp { address: ([127, 0, 0, 1], 0).into(), reuse_port: false };
        let fd = listen(&on, &options).expect("loopback listens");
        *self.address.borrow_mut() = Some(local_address(&fd).expect("it is bound"));
        let found = try_ring(self.mode, self.entries, &options);
        let found = found.unwrap_or_else(|(error, step)| panic!("{step}: {error}"));
        UringPoller::over(found, vec![fd], options)
    }

    fn dial(&self, _: &mut UringPoller) -> std::io::Result<Box<dyn Wire>> {
        SocketWire::dial(self.address.borrow().as_ref().expect("built first"))
    }
}

fn allowed() -> bool {
    let allowed = UringPoller::new(Vec::new(), SocketOptions::default());
    allowed.inspect(|poller| assert_eq!(poller.name(), "uring")).is_ok()
}

port::contract_tests!(with_array, Lesser::new(Mode::Defer { submission_array: true }, 256), allowed());
port::contract_tests!(cooperative, Lesser::new(Mode::Cooperative, 256), allowed());
port::contract_tests!(plain, Lesser::new(Mode::Plain, 256), allowed());
// So few entries that every list finds the queue full.
port::contract_tests!(two_entries, Lesser::new(Mode::Defer { submission_array: false }, 2), allowed());
