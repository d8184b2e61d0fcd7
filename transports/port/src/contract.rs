//! The contract suite: what every transport must pass, written once. A `Rig` builds a poller and
//! dials it; the suite plays the house on one end and the peer on the other. It knows no wire.
//!
//! Each public function is one sentence of the contract. `run_all` runs them all; a driver's test
//! file may also name them one by one with `contract_tests!`.

mod closing;
mod flow;
mod house;
mod sleeping;
mod storm;
mod wires;

pub use closing::*;
pub use flow::*;
pub use sleeping::*;
pub use storm::*;
pub use wires::SocketWire;

use crate::Poller;

/// What a peer heard when it listened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Heard {
    /// That many bytes.
    Bytes(usize),
    /// Nothing yet.
    Nothing,
    /// The end: in order, or by a reset.
    End,
}

/// The peer's end of a link: a test client that never blocks. Dropping it closes it. A peer that is
/// never asked to `receive` is a slow peer.
pub trait Wire {
    /// Sends what fits; returns how much did. 0 where nothing fits or the far end is gone.
    fn send(&mut self, bytes: &[u8]) -> usize;

    /// Appends at most 64 KiB of what has arrived.
    fn receive(&mut self, into: &mut Vec<u8>) -> Heard;

    /// Says that nothing more will be sent; goes on listening.
    fn shutdown_write(&mut self);

    /// Ends without order, as a killed process does (a TCP RST). Where the wire knows no reset: a close.
    fn reset(self: Box<Self>);
}

/// Builds one driver for the suite.
pub trait Rig {
    /// The driver.
    type Poller: Poller;

    /// A fresh poller that listens.
    fn build(&self) -> Self::Poller;

    /// Dials it. Must not wait for the poller to accept.
    ///
    /// # Errors
    /// Where nobody listens any more.
    fn dial(&self, poller: &mut Self::Poller) -> std::io::Result<Box<dyn Wire>>;
}

/// Names every sentence once: `run_all` and `contract_tests!` are both made from this list.
macro_rules! sentences {
    ($($sentence:ident)*) => {
        /// Runs the whole suite.
        pub fn run_all<R: Rig>(rig: &R) {
            $($sentence(rig);)*
        }

        /// One `#[test]` per sentence of the contract, inside a module: `contract_tests!(name, rig)`.
        /// `rig` is an expression that makes the rig anew in each test. A third argument tells whether
        /// the driver is allowed on this machine at all; where it is not, the tests say so and pass.
        #[macro_export]
        macro_rules! contract_tests {
            ($name:ident, $rig:expr) => {
                $crate::contract_tests!($name, $rig, true);
            };
            ($name:ident, $rig:expr, $allowed:expr) => {
                mod $name {
                    #[allow(unused_imports, reason = "a rig may be named by its full path")]
                    use super::*;
                    $(
                        #[test]
                        fn $sentence() {
                            if !$allowed {
                                eprintln!("passed by: this driver is not allowed here");
                                return;
                            }
                            $crate::contract::$sentence(&$rig);
                        }
                    )*
                }
            };
        }
    };
}

sentences! {
    bytes_arrive_whole_and_in_order
    many_links_keep_their_bytes_apart
    a_slow_peer_meets_back_pressure_and_loses_nothing
    a_slow_house_meets_back_pressure_and_loses_nothing
    a_refused_lease_is_followed_by_writable_when_another_link_gives_back
    throttle_stops_harvesting_and_resume_loses_nothing
    poll_respects_its_budget_and_starves_nobody
    an_empty_submit_sends_nothing
    stale_links_are_harmless
    slots_are_reused_under_new_names
    stop_accepting_leaves_links_alone
    drain_sends_everything
    drain_before_flush_sends_everything
    abort_drops_the_rest
    abort_cuts_a_drain_short
    close_while_receiving_is_safe
    a_half_close_delivers_the_bytes_first
    a_half_closed_peer_hears_the_answers
    a_half_closed_peer_may_go_altogether
    ends_that_wait_for_their_turn_are_safe
    a_peer_that_resets_is_reported_once
    a_peer_that_goes_while_throttled_is_found_on_resume
    every_chunk_comes_home
    park_wakes_for_bytes
    park_wakes_for_a_new_link
    park_wakes_for_a_watched_descriptor
    park_wakes_for_the_clock
    park_flushes_first
    park_never_sleeps_on_a_close
    park_wakes_when_a_slow_peer_reads
    park_does_not_spin_on_what_cannot_move
    sleep_on_turns_readable
    a_storm_of_random_links_keeps_every_promise
}
