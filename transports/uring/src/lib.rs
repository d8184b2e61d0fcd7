//! Kernel TCP and Unix sockets over io_uring: one ring per core, entered only when there is reason to.
//! Knows links and bytes, never what the bytes mean; where io_uring is denied it says why and the
//! house takes the epoll driver instead.

mod accept;
mod datapath;
mod ending;
mod hang_up;
#[cfg(test)]
mod lesser;
mod link;
mod park;
mod receive;
mod setup;
mod sys;
mod token;

pub use datapath::UringPoller;
pub use setup::UringDenied;
