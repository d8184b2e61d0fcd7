//! Kernel TCP and Unix sockets over epoll
