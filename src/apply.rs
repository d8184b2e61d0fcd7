//! Settings that reach beyond the shards: a change of directory, of the limit of clients, of ports and
//! addresses. All or nothing; the words of a refusal are Redis's. Knows no session.

use crate::config::addresses::{self, Bind};
use crate::core::{Letter, LetterBox};
use crate::limits;
use crate::listeners::{Doors, open_address};
use port::sockets::SocketOptions;
use spec::Settings;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

/// A core that does not answer within this time is given up on: its doors follow when it does.
const PATIENCE: Duration = Duration::from_secs(2);

/// What stands outside of the shards and follows settings.
pub(crate) struct Outside {
    /// Where the common port is listened on.
    common: Vec<SocketAddr>,
    options: SocketOptions,
    shards: usize,
}

/// Sockets for every shard, and addresses to be left.
#[derive(Default)]
struct Move {
    open: Vec<(SocketAddr, Vec<OwnedFd>)>,
    close: Vec<SocketAddr>,
}

impl Outside {
    pub(crate) fn new(doors: &Doors, options: SocketOptions, shards: usize) -> Outside {
        Outside { common: doors.common.clone(), options, shards }
    }

    /// Carries out what the settings of these names ask for. An error is CONFIG SET's reply, and nothing
    /// was changed.
    pub(crate) fn apply(
        &mut self,
        names: &[&'static str],
        settings: &Settings,
        cores: &[LetterBox],
    ) -> Result<(), String> {
        if names.contains(&"maxclients") {
            allow_clients(settings.live.maxclients, self.shards)
                .map_err(|reason| refusal("maxclients", &reason))?;
        }
        let before = std::env::current_dir();
        if names.contains(&"dir") {
            enter(settings.value("dir").text()).map_err(|reason| refusal("dir", &reason))?;
        }
        if !names.contains(&"port") && !names.contains(&"bind") {
            return Ok(());
        }
        let moved = self.listen(settings, cores).map_err(|error| {
            tracing::warn!("CONFIG SET: {error}");
            // Where it is gone by now there is no way back, and nothing depends on it.
            let _ = before.map(std::env::set_current_dir);
            if names.contains(&"port") {
                refusal("port", "Unable to listen on this port. Check server logs.")
            } else {
                refusal("bind", "Failed to bind to specified addresses.")
            }
        })?;
        self.carry_out(moved, cores);
        Ok(())
    }

    /// Opens sockets where none is listened on yet.
    fn listen(&mut self, settings: &Settings, cores: &[LetterBox]) -> Result<Move, String> {
        let wanted = wanted(settings);
        if !self.must_leave_first(&wanted) {
            return self.open(&wanted);
        }
        let before = self.common.clone();
        self.carry_out(Move { close: before.clone(), ..Move::default() }, cores);
        let outcome = with_patience(|| self.open(&wanted));
        if outcome.is_err() {
            let back =
                |address: &SocketAddr| (Bind { address: address.ip(), optional: false }, address.port());
            let back: Vec<_> = before.iter().map(back).collect();
            let moved = with_patience(|| self.open(&back))?;
            self.carry_out(moved, cores);
        }
        outcome
    }

    /// An address that stands for all of the machine's, and one of those, cannot both be had on a port.
    fn must_leave_first(&self, wanted: &[(Bind, u16)]) -> bool {
        let clash = |old: &SocketAddr, (new, port): &(Bind, u16)| {
            old.port() == *port
                && old.ip() != new.address
                && (old.ip().is_unspecified() || new.address.is_unspecified())
        };
        self.common.iter().any(|old| wanted.iter().any(|new| clash(old, new)))
    }

    fn open(&self, wanted: &[(Bind, u16)]) -> Result<Move, String> {
        let mut moved = Move { close: self.common.clone(), ..Move::default() };
        for (bind, port) in wanted {
            let address = SocketAddr::new(bind.address, *port);
            if self.common.contains(&address) {
                moved.close.retain(|old| *old != address);
                continue;
            }
            let found = open_address(bind, *port, self.shards, &self.options)
                .map_err(|error| format!("cannot listen on {address}: {error}"))?;
            moved.open.extend(found);
        }
        if !wanted.is_empty() && moved.open.is_empty() && moved.close.len() == self.common.len() {
            return Err("none of the addresses of 'bind' can be had".to_owned());
        }
        Ok(moved)
    }

    /// Hands every core its sockets, and waits until all have taken them.
    fn carry_out(&mut self, moved: Move, cores: &[LetterBox]) {
        let Move { open, close } = moved;
        if open.is_empty() && close.is_empty() {
            return;
        }
        self.common.retain(|address| !close.contains(address));
        let mut shares: Vec<Vec<OwnedFd>> = cores.iter().map(|_| Vec::new()).collect();
        for (address, sockets) in open {
            self.common.push(address);
            shares.iter_mut().zip(sockets).for_each(|(share, socket)| share.push(socket));
        }
        let (done, answers) = mpsc::sync_channel(cores.len());
        for (core, open) in cores.iter().zip(shares) {
            core.post(Letter::Doors { open, close: close.clone(), done: done.clone() });
        }
        drop(done);
        let late = cores.iter().any(|_| answers.recv_timeout(PATIENCE).is_err());
        let open: Vec<String> = self.common.iter().map(SocketAddr::to_string).collect();
        tracing::info!(
            "listening on {}",
            if open.is_empty() { "no TCP port".into() } else { open.join(", ") }
        );
        if late {
            tracing::warn!("a core is slow to change its listeners");
        }
    }
}

/// The addresses that settings ask for.
fn wanted(settings: &Settings) -> Vec<(Bind, u16)> {
    match settings.value("port").count() as u16 {
        0 => Vec::new(),
        port => addresses::of(settings.value("bind")).into_iter().map(|bind| (bind, port)).collect(),
    }
}

/// Tries again for a while: a socket that was let go of may take a moment to be closed.
fn with_patience<T>(attempt: impl Fn() -> Result<T, String>) -> Result<T, String> {
    const STEPS: u32 = 50;
    for _ in 1..STEPS {
        match attempt() {
            Ok(outcome) => return Ok(outcome),
            Err(_) => std::thread::sleep(PATIENCE / STEPS),
        }
    }
    attempt()
}

/// CONFIG SET's error.
fn refusal(name: &str, reason: &str) -> String {
    format!("ERR CONFIG SET failed (possibly related to argument '{name}') - {reason}")
}

fn enter(directory: &str) -> Result<(), String> {
    std::env::set_current_dir(PathBuf::from(directory)).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "No such file or directory".to_owned(),
        _ => error.to_string(),
    })
}

fn allow_clients(maxclients: u32, shards: usize) -> Result<(), String> {
    let possible = limits::raise_descriptors(maxclients, shards)?;
    if possible >= u64::from(maxclients) {
        return Ok(());
    }
    Err(format!(
        "The operating system is not able to handle the specified number of clients, try with {possible}"
    ))
}
