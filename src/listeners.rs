//! The doors of the house: which sockets listen, and which shard stands behind each.

use crate::config::addresses::{self, Bind};
use port::sockets::{ListenOn, SocketOptions, listen, local_address};
use spec::Settings;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

/// All listening sockets.
pub struct Doors {
    /// For each shard.
    pub listeners: Vec<Vec<OwnedFd>>,
    /// The common port, 0 where there is none.
    pub port: u16,
    /// Where the common port is listened on.
    pub common: Vec<SocketAddr>,
    /// In words, for the log.
    pub names: Vec<String>,
    /// The Unix socket's path, to be removed at the end.
    pub unix: Option<PathBuf>,
}

/// Opens all doors: the common port for every shard, one port a shard, the Unix socket.
///
/// # Errors
/// Which address cannot be had, and why.
pub fn open(settings: &Settings, shards: usize, options: &SocketOptions) -> Result<Doors, String> {
    let mut doors =
        Doors { listeners: Vec::new(), port: 0, common: Vec::new(), names: Vec::new(), unix: None };
    doors.listeners.resize_with(shards, Vec::new);
    let binds = addresses::of(settings.value("bind"));
    let port = settings.value("port").count() as u16;
    let wants_tcp = port > 0 || settings.value("unixsocket").text().is_empty();
    if wants_tcp {
        for bind in &binds {
            open_common(&mut doors, bind, port, shards, options)?;
        }
        if doors.listeners.first().is_some_and(Vec::is_empty) && !binds.is_empty() {
            return Err("none of the addresses of 'bind' can be had".to_owned());
        }
    }
    let base = settings.value("shard-ports").count();
    if base > 0 {
        open_shard_ports(&mut doors, &binds, base, options)?;
    }
    let path = settings.value("unixsocket").text();
    if !path.is_empty() {
        open_unix(&mut doors, path, settings.value("unixsocketperm").number(), options)?;
    }
    Ok(doors)
}

fn open_common(
    doors: &mut Doors,
    bind: &Bind,
    port: u16,
    shards: usize,
    options: &SocketOptions,
) -> Result<(), String> {
    let port = if doors.port > 0 { doors.port } else { port };
    let found = patiently(|| open_address(bind, port, shards, options))
        .map_err(|error| format!("cannot listen on {}: {error}", SocketAddr::new(bind.address, port)))?;
    let Some((address, sockets)) = found else { return Ok(()) };
    doors.port = address.port();
    doors.common.push(address);
    doors.names.push(address.to_string());
    doors.listeners.iter_mut().zip(sockets).for_each(|(listeners, socket)| listeners.push(socket));
    Ok(())
}

/// A socket for each shard on one address, and which address that is (port 0 lets the system choose).
/// `None` where the machine does not have it, and need not.
///
/// # Errors
/// Why it cannot be listened on.
pub fn open_address(
    bind: &Bind,
    port: u16,
    shards: usize,
    options: &SocketOptions,
) -> io::Result<Option<(SocketAddr, Vec<OwnedFd>)>> {
    let wanted = SocketAddr::new(bind.address, port);
    // With SO_REUSEPORT a second server on the same port would go unnoticed: look first.
    let probe = match listen(&ListenOn::Tcp { address: wanted, reuse_port: false }, options) {
        Ok(socket) => socket,
        Err(error) if bind.optional && is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let address = match local_address(&probe) {
        Ok(port::Address::Inet(address)) => address,
        _ => wanted,
    };
    if shards == 1 {
        return Ok(Some((address, vec![probe])));
    }
    drop(probe);
    let sockets = (0..shards).map(|_| listen(&ListenOn::Tcp { address, reuse_port: true }, options));
    Ok(Some((address, sockets.collect::<io::Result<_>>()?)))
}

/// Tries again for a while where the address is in use: the kernel lets go of a killed server's sockets a
/// moment after its end, and whoever starts it anew at once should not be refused.
fn patiently<T>(attempt: impl Fn() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..25 {
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                std::thread::sleep(Duration::from_millis(20));
            }
            outcome => return outcome,
        }
    }
    attempt()
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AddrNotAvailable | io::ErrorKind::Unsupported)
        || error.raw_os_error() == Some(rustix::io::Errno::AFNOSUPPORT.raw_os_error())
}

fn open_shard_ports(
    doors: &mut Doors,
    binds: &[Bind],
    base: u64,
    options: &SocketOptions,
) -> Result<(), String> {
    for shard in 0..doors.listeners.len() {
        let port = u16::try_from(base + shard as u64)
            .map_err(|_| format!("shard-ports {base}: shard {shard} has no port below 65,536"))?;
        for bind in binds {
            let address = SocketAddr::new(bind.address, port);
            match patiently(|| listen(&ListenOn::Tcp { address, reuse_port: false }, options)) {
                Ok(socket) => doors.listeners[shard].push(socket),
                Err(error) if bind.optional && is_absent(&error) => {}
                Err(error) => return Err(format!("cannot listen on {address} for shard {shard}: {error}")),
            }
        }
    }
    let last = base + doors.listeners.len() as u64 - 1;
    doors.names.push(format!("ports {base}-{last} by shard"));
    Ok(())
}

fn open_unix(doors: &mut Doors, path: &str, mode: i64, options: &SocketOptions) -> Result<(), String> {
    let mode = (mode > 0).then_some(mode as u32);
    let socket = listen(&ListenOn::Unix { path: PathBuf::from(path), mode }, options)
        .map_err(|error| format!("cannot listen on {path}: {error}"))?;
    for listeners in &mut doors.listeners {
        listeners.push(socket.as_fd().try_clone_to_owned().map_err(|error| format!("{path}: {error}"))?);
    }
    doors.names.push(path.to_owned());
    doors.unix = Some(PathBuf::from(path));
    Ok(())
}
