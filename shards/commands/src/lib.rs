//! Every command of Corelane, declared once, with its handler. It knows the words (spec), the bytes
//! of replies (resp) and one shard's keyspace (store); it does not know how a shard carries commands
//! out, or that there are wires.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod awaited;
mod bitmap;
mod blocking;
mod catalog;
mod command;
mod connection;
mod context;
mod element;
mod generic;
mod geo;
mod hash;
mod help;
mod home;
mod hyperloglog;
mod list;
mod lookup;
mod number;
mod pubsub;
mod server;
mod set;
mod sorted_set;
mod string;
#[cfg(test)]
mod testing;
mod transactions;
mod watched;

pub use awaited::{Awaited, Spot};
pub use catalog::{Catalog, Entry};
pub use command::{
    ActFn, Block, Check, CheckFn, Command, DecideFn, Everywhere, Finds, Go, HomeFn, Journey, LocalFn, Lock,
    NextFn, Order, Piece, Plan, Run, Spread, Transaction, Wide,
};
pub use context::{Args, Caller, Ctx, Effects, Hashed, Key, KeyEvent, Random, Seat, tell_noted};
pub use home::{
    After, AllocatorFigures, AllocatorTools, Call, Facts, Home, House, Job, PauseMode, ReplyMode,
    SessionState,
};
pub use pubsub::{Name, TopicKind, Topics};
pub use watched::Watched;

/// Has a shard's store note what these settings want of the uses of its entries. To be called when it is
/// made; CONFIG SET does so itself.
pub fn note_uses(live: &spec::Live, keyspace: &mut store::Store) {
    keyspace.note_uses(generic::use_note(live));
}

/// Every command, family by family.
pub fn all() -> Vec<&'static Command> {
    [
        string::ALL,
        bitmap::ALL,
        hyperloglog::ALL,
        list::ALL,
        hash::ALL,
        set::ALL,
        sorted_set::ALL,
        geo::ALL,
        generic::ALL,
        transactions::ALL,
        pubsub::ALL,
        connection::ALL,
        server::ALL,
    ]
    .concat()
}
