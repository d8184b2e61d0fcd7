//! Kernel TCP and Unix sockets over epoll: the driver where io_uring is denied. Level-triggered,
//! non-blocking, one read per ready link and round, one gathered write per link and flush.
//! It knows nothing of what the bytes mean, and leaves refusing clients to the house.

mod datapath;
mod doors;
mod setup;
mod sys;

pub use setup::EpollPoller;
