//! A peer on a kernel socket, for the socket drivers. Knows nothing of pollers.

use super::{Heard, Wire};
use crate::Address;
use rustix::net::sockopt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;

/// The peer's end of a TCP or Unix link.
#[derive(Debug)]
pub enum SocketWire {
    /// Over TCP.
    Tcp(TcpStream),
    /// Over a Unix-domain socket.
    Unix(UnixStream),
}

impl SocketWire {
    /// Connects to a listener on this machine.
    ///
    /// # Errors
    /// What `connect` says; `Unsupported` for an address no socket has.
    pub fn dial(address: &Address) -> io::Result<Box<dyn Wire>> {
        let wire = match address {
            Address::Inet(address) => {
                let stream = TcpStream::connect(address)?;
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                // A small window: tests of back-pressure need not fill the 6 MiB the kernel would allow.
                sockopt::set_socket_recv_buffer_size(&stream, 64 * 1024)?;
                SocketWire::Tcp(stream)
            }
            Address::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_nonblocking(true)?;
                SocketWire::Unix(stream)
            }
            Address::Memory(_) => return Err(ErrorKind::Unsupported.into()),
        };
        Ok(Box::new(wire))
    }
}

impl Wire for SocketWire {
    fn send(&mut self, bytes: &[u8]) -> usize {
        let sent = match self {
            SocketWire::Tcp(stream) => stream.write(bytes),
            SocketWire::Unix(stream) => stream.write(bytes),
        };
        sent.unwrap_or(0)
    }

    fn receive(&mut self, into: &mut Vec<u8>) -> Heard {
        let before = into.len();
        into.resize(before + 64 * 1024, 0);
        let received = match self {
            SocketWire::Tcp(stream) => stream.read(&mut into[before..]),
            SocketWire::Unix(stream) => stream.read(&mut into[before..]),
        };
        into.truncate(before + *received.as_ref().unwrap_or(&0));
        match received {
            Ok(0) => Heard::End,
            Ok(count) => Heard::Bytes(count),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Heard::Nothing,
            Err(_) => Heard::End,
        }
    }

    fn shutdown_write(&mut self) {
        // Fails only where the far end is gone already, which the next `receive` tells.
        let _ = match self {
            SocketWire::Tcp(stream) => stream.shutdown(Shutdown::Write),
            SocketWire::Unix(stream) => stream.shutdown(Shutdown::Write),
        };
    }

    fn reset(self: Box<Self>) {
        if let SocketWire::Tcp(stream) = *self {
            sockopt::set_socket_linger(&stream, Some(std::time::Duration::ZERO))
                .expect("linger is always settable");
        }
    }
}
