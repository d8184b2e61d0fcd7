//! Kernel sockets: what the socket drivers (`uring`, `epoll`) share before and after a connection lives.
//! Listening, dressing an accepted socket, naming its ends. Knows nothing of polling.

use crate::{Address, Peer, sys};
use rustix::fs::{self, FileType, Mode};
use rustix::net::{self, AddressFamily, SocketAddrAny, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where to listen.
#[derive(Debug)]
pub enum ListenOn {
    /// A TCP port; port 0 lets the kernel choose (see `local_address`).
    Tcp {
        /// The address to bind.
        address: SocketAddr,
        /// SO_REUSEPORT: several sockets, one per shard, share the port and the kernel spreads clients.
        reuse_port: bool,
    },
    /// A Unix-domain stream socket. A stale socket file at `path` is replaced; a live one is an error.
    Unix {
        /// Where the socket file is made.
        path: PathBuf,
        /// Permission bits of the socket file; `None` leaves what the umask gave.
        mode: Option<u32>,
    },
    /// A socket that listens already, such as a Unix listener duplicated for every shard.
    Inherited(OwnedFd),
}

/// Settings of a socket driver. Every count has a bound of its own.
#[derive(Clone, Debug)]
pub struct SocketOptions {
    /// TCP_NODELAY: small replies leave at once.
    pub no_delay: bool,
    /// Idle seconds before keepalive probes; 0 turns them off.
    pub keepalive_seconds: u32,
    /// Connections that may wait to be accepted.
    pub backlog: u32,
    /// SO_BUSY_POLL in microseconds; 0 turns it off.
    pub busy_poll_us: u32,
    /// SO_PREFER_BUSY_POLL.
    pub prefer_busy_poll: bool,
    /// IORING_REGISTER_NAPI (`uring` only): microseconds that a wait polls the device; 0 for none.
    pub napi_busy_poll_us: u32,
    /// Bytes per chunk that received bytes travel in.
    pub chunk_bytes: usize,
    /// Bytes per chunk that replies travel in.
    pub send_chunk_bytes: usize,
    /// Chunks per poller that received bytes travel in.
    pub receive_chunks: usize,
    /// Chunks per poller that replies travel in.
    pub send_chunks: usize,
    /// Chunks one link may have submitted and unsent.
    pub send_chunks_per_link: usize,
    /// Links the poller makes room for at its start. No bound: refusing clients is the house's business.
    pub links_max: usize,
}

impl Default for SocketOptions {
    fn default() -> Self {
        Self {
            no_delay: true,
            keepalive_seconds: 300,
            backlog: 511,
            busy_poll_us: 0,
            prefer_busy_poll: false,
            napi_busy_poll_us: 0,
            chunk_bytes: 16 * 1024,
            send_chunk_bytes: 16 * 1024,
            receive_chunks: 256,
            send_chunks: 1024,
            send_chunks_per_link: 16,
            links_max: 10_000,
        }
    }
}

/// Opens a non-blocking listening socket.
///
/// # Errors
/// What the kernel says of the address; `AddrInUse` where a live server owns the Unix path.
pub fn listen(on: &ListenOn, options: &SocketOptions) -> io::Result<OwnedFd> {
    let backlog = i32::try_from(options.backlog).unwrap_or(i32::MAX);
    match on {
        ListenOn::Tcp { address, reuse_port } => {
            let fd = stream_socket(match address {
                SocketAddr::V4(_) => AddressFamily::INET,
                SocketAddr::V6(_) => AddressFamily::INET6,
            })?;
            sockopt::set_socket_reuseaddr(&fd, true)?;
            if *reuse_port {
                sockopt::set_socket_reuseport(&fd, true)?;
            }
            if address.is_ipv6() {
                // `bind 0.0.0.0 ::` must be two sockets that do not collide.
                sockopt::set_ipv6_v6only(&fd, true)?;
            }
            net::bind(&fd, address)?;
            net::listen(&fd, backlog)?;
            Ok(fd)
        }
        ListenOn::Unix { path, mode } => {
            clear_stale(path)?;
            let fd = stream_socket(AddressFamily::UNIX)?;
            net::bind(&fd, &SocketAddrUnix::new(path.as_path())?)?;
            if let Some(mode) = mode {
                fs::chmod(path.as_path(), Mode::from_raw_mode(*mode))?;
            }
            net::listen(&fd, backlog)?;
            Ok(fd)
        }
        ListenOn::Inherited(fd) => {
            let fd = fd.try_clone()?;
            rustix::io::ioctl_fionbio(&fd, true)?;
            Ok(fd)
        }
    }
}

fn stream_socket(family: AddressFamily) -> io::Result<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    Ok(net::socket_with(family, SocketType::STREAM, flags, None)?)
}

/// Removes a socket file that nobody listens on any more, as a killed server leaves it.
fn clear_stale(path: &Path) -> io::Result<()> {
    let Ok(found) = fs::lstat(path) else { return Ok(()) };
    if FileType::from_raw_mode(found.st_mode) != FileType::Socket {
        return Err(io::Error::new(io::ErrorKind::AddrInUse, "a file that is no socket is in the way"));
    }
    let probe = stream_socket(AddressFamily::UNIX)?;
    match net::connect(&probe, &SocketAddrUnix::new(path)?) {
        Err(rustix::io::Errno::CONNREFUSED) => Ok(fs::unlink(path)?),
        Err(rustix::io::Errno::NOENT) => Ok(()),
        _ => Err(io::Error::new(io::ErrorKind::AddrInUse, "another server listens on this socket file")),
    }
}

/// Sets the per-connection options of an accepted socket. Options a family or an old kernel lacks
/// are left unset: a connection with default options still works.
pub fn dress(fd: impl AsFd, options: &SocketOptions) {
    let fd = fd.as_fd();
    if options.no_delay {
        let _ = sockopt::set_tcp_nodelay(fd, true);
    }
    if options.keepalive_seconds > 0 {
        // Redis's own rule: probe after the interval, again each third of it, three times.
        let idle = options.keepalive_seconds;
        let _ = sockopt::set_socket_keepalive(fd, true);
        let _ = sockopt::set_tcp_keepidle(fd, Duration::from_secs(u64::from(idle)));
        let _ = sockopt::set_tcp_keepintvl(fd, Duration::from_secs(u64::from((idle / 3).max(1))));
        let _ = sockopt::set_tcp_keepcnt(fd, 3);
    }
    if options.busy_poll_us > 0 {
        let us = i32::try_from(options.busy_poll_us).unwrap_or(i32::MAX);
        let _ = sys::set_socket_option(fd, libc::SO_BUSY_POLL, us);
    }
    if options.prefer_busy_poll {
        let _ = sys::set_socket_option(fd, libc::SO_PREFER_BUSY_POLL, 1);
    }
}

/// Tries SO_BUSY_POLL on a socket that nobody uses, and says what came of it: without CAP_NET_ADMIN the
/// kernel refuses more than `net.core.busy_read`, and `dress` would say nothing.
pub fn busy_poll_story(options: &SocketOptions) -> String {
    let us = options.busy_poll_us;
    if us == 0 {
        return String::new();
    }
    let tried = stream_socket(AddressFamily::INET).and_then(|socket| {
        let value = i32::try_from(us).unwrap_or(i32::MAX);
        sys::set_socket_option(socket.as_fd(), libc::SO_BUSY_POLL, value)
    });
    match tried {
        Ok(()) => format!(", busy poll {us} us"),
        Err(error) => format!(", no busy poll: {error}"),
    }
}

/// What a listening or connected socket is bound to.
///
/// # Errors
/// What `getsockname` says.
pub fn local_address(fd: impl AsFd) -> io::Result<Address> {
    Ok(address(&net::getsockname(fd)?))
}

/// Names both ends of a connected socket: the far end and ours. An end that has already gone is
/// named by its unspecified address.
pub fn address_of(fd: impl AsFd) -> (Address, Address) {
    let fd = fd.as_fd();
    let local = local_address(fd).unwrap_or_else(|_| unspecified());
    let remote = match &local {
        // A Unix client has no path of its own: both ends carry the listener's.
        Address::Unix(path) => Address::Unix(path.clone()),
        _ => net::getpeername(fd).ok().flatten().map_or_else(unspecified, |found| address(&found)),
    };
    (remote, local)
}

/// The `Peer` of a freshly accepted socket.
pub fn peer_of(fd: impl AsFd) -> Peer {
    let (remote, local) = address_of(&fd);
    Peer { remote, local, fd: fd.as_fd().as_raw_fd() }
}

fn unspecified() -> Address {
    Address::Inet(SocketAddr::from(([0, 0, 0, 0], 0)))
}

fn address(found: &SocketAddrAny) -> Address {
    if let Ok(inet) = SocketAddr::try_from(found.clone()) {
        return Address::Inet(inet);
    }
    match SocketAddrUnix::try_from(found.clone()) {
        Ok(unix) => {
            let path = unix.path_bytes().unwrap_or_default();
            Address::Unix(String::from_utf8_lossy(path).into_owned())
        }
        Err(_) => unspecified(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    use std::os::unix::net::UnixStream;

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("corelane-sockets-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder.join(name)
    }

    #[test]
    fn port_zero_is_replaced_by_a_real_one() {
        let on = ListenOn::Tcp { address: "127.0.0.1:0".parse().unwrap(), reuse_port: true };
        let fd = listen(&on, &SocketOptions::default()).unwrap();
        let Address::Inet(bound) = local_address(&fd).unwrap() else { panic!("an internet address") };
        assert_ne!(bound.port(), 0);
        let again = ListenOn::Tcp { address: bound, reuse_port: true };
        listen(&again, &SocketOptions::default()).expect("a second shard shares the port");
    }

    #[test]
    fn both_ends_of_a_tcp_connection_are_named_and_dressed() {
        let on = ListenOn::Tcp { address: "127.0.0.1:0".parse().unwrap(), reuse_port: false };
        let options = SocketOptions { busy_poll_us: 10, ..SocketOptions::default() };
        let listener = std::net::TcpListener::from(listen(&on, &options).unwrap());
        let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        dress(&server, &options);
        assert!(sockopt::tcp_nodelay(&server).unwrap());
        assert_eq!(sockopt::tcp_keepidle(&server).unwrap(), Duration::from_secs(300));
        assert_eq!(sockopt::tcp_keepintvl(&server).unwrap(), Duration::from_secs(100));
        let peer = peer_of(&server);
        assert_eq!(peer.remote, Address::Inet(client.local_addr().unwrap()));
        assert_eq!(peer.local, Address::Inet(listener.local_addr().unwrap()));
    }

    #[test]
    fn busy_polling_is_set_on_accepted_sockets_or_its_refusal_is_told() {
        let options = SocketOptions { busy_poll_us: 37, prefer_busy_poll: true, ..SocketOptions::default() };
        let on = ListenOn::Tcp { address: "127.0.0.1:0".parse().unwrap(), reuse_port: false };
        let listener = std::net::TcpListener::from(listen(&on, &options).unwrap());
        let _client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        dress(&server, &options);
        let held = [libc::SO_BUSY_POLL, libc::SO_PREFER_BUSY_POLL]
            .map(|option| sys::socket_option(server.as_fd(), option).unwrap());
        match busy_poll_story(&options).as_str() {
            ", busy poll 37 us" => assert_eq!(held, [37, 1]),
            // Raising it is a privilege.
            story => assert!(story.contains("not permitted") && held == [0, 0], "{story}, {held:?}"),
        }
        assert_eq!(busy_poll_story(&SocketOptions::default()), "");
    }

    #[test]
    fn a_unix_socket_file_gets_its_mode_and_a_stale_one_is_replaced() {
        let path = scratch("mode.sock");
        let on = ListenOn::Unix { path: path.clone(), mode: Some(0o700) };
        let first = listen(&on, &SocketOptions::default()).unwrap();
        let found = std::fs::metadata(&path).unwrap();
        assert!(found.file_type().is_socket());
        assert_eq!(found.permissions().mode() & 0o777, 0o700);
        let refused = listen(&on, &SocketOptions::default()).expect_err("a live socket is not stolen");
        assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
        drop(first);
        let second = listen(&on, &SocketOptions::default()).expect("a stale one is replaced");
        UnixStream::connect(&path).expect("it is reachable");
        let shared = listen(&ListenOn::Inherited(second), &SocketOptions::default()).unwrap();
        assert_eq!(local_address(&shared).unwrap(), Address::Unix(path.display().to_string()));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_file_that_is_no_socket_is_left_alone() {
        let path = scratch("plain");
        std::fs::write(&path, "mine").unwrap();
        let on = ListenOn::Unix { path: path.clone(), mode: None };
        assert!(listen(&on, &SocketOptions::default()).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
        std::fs::remove_file(&path).unwrap();
    }
}
