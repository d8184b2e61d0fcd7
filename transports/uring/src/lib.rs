//! Kernel TCP and Unix sockets over io_uring
