//! The thread that looks after the house: signals, jobs of the cores, the control port, the end.

use crate::admin::{self, AdminConfig, AdminHandle};
use crate::apply::Outside;
use crate::boot::{House, Note, Visitor, control_address, poll_words};
use crate::config::{Config, rewrite};
use crate::core::{Letter, Request};
use crate::listeners::Doors;
use crate::log::Log;
use crate::report::VERSION;
use commands::Job;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use spec::setting::LogLevel;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Beyond the cores' own patience (`shutdown-timeout`), before the process ends all the same.
const GRACE: Duration = Duration::from_secs(3);

/// What it needs while the house stands.
pub(crate) struct Keeper {
    config: Config,
    unix: Option<PathBuf>,
    pid_file: Option<PathBuf>,
    inbox: mpsc::Receiver<Note>,
    control: Option<AdminHandle>,
    names: Vec<String>,
    outside: Outside,
    log: Log,
    /// How long clients may take for what is due to them when the server stops.
    drain: Duration,
}

impl Keeper {
    /// A keeper; writes the pid file.
    ///
    /// # Errors
    /// Where the pid file cannot be written.
    pub(crate) fn new(
        config: &Config,
        doors: &Doors,
        outside: Outside,
        inbox: mpsc::Receiver<Note>,
        log: Log,
    ) -> Result<Keeper, String> {
        let path = config.settings.value("pidfile").text();
        let pid_file = (!path.is_empty()).then(|| PathBuf::from(path));
        let (unix, names) = (doors.unix.clone(), doors.names.clone());
        let drain = Duration::from_secs(config.settings.value("shutdown-timeout").count());
        let config = config.clone();
        let keeper = Keeper { config, unix, pid_file, inbox, control: None, names, outside, log, drain };
        if let Some(path) = &keeper.pid_file {
            std::fs::write(path, format!("{}\n", std::process::id()))
                .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        }
        Ok(keeper)
    }

    /// SIGTERM and SIGINT become notes.
    ///
    /// # Errors
    /// Where the system refuses a handler.
    pub(crate) fn catch_signals(&mut self, notes: &mpsc::Sender<Note>) -> Result<(), String> {
        let mut signals = Signals::new([SIGTERM, SIGINT]).map_err(|error| error.to_string())?;
        let notes = notes.clone();
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                for signal in signals.forever() {
                    if notes.send(Note::Signal(signal)).is_err() {
                        break;
                    }
                }
            })
            .map_err(|error| error.to_string())?;
        Ok(())
    }

    /// Opens the control port. A port that is taken is an error only where it was asked for.
    ///
    /// # Errors
    /// The address and the reason.
    pub(crate) fn open_control_port(&mut self, house: &Arc<House>) -> Result<(), String> {
        let Some(bind) = control_address(&self.config.settings) else {
            return Ok(());
        };
        let visitor = Visitor::new(house.clone(), self.config.settings.clone());
        match admin::start(AdminConfig { bind }, Arc::new(visitor)) {
            Ok(handle) => {
                self.names.push(format!("http://{bind}/metrics"));
                self.control = Some(handle);
            }
            Err(error) if self.config.was_given("control-port") => {
                return Err(format!("cannot listen on {bind} (control-port): {error}"));
            }
            Err(error) => tracing::warn!("no control port: {bind}: {error}"),
        }
        Ok(())
    }

    /// The start-up line: version, shards and cores, drivers, listeners.
    pub(crate) fn announce(&self, house: &House) {
        for warning in &self.config.warnings {
            tracing::warn!("{warning}");
        }
        let mut drivers: Vec<&str> = house.blocks.iter().map(|block| block.driver()).collect();
        drivers.sort_unstable();
        drivers.dedup();
        tracing::info!(
            "Corelane {VERSION} is ready: {} shard{}, driver {}, poll {}, listening on {}",
            house.shards(),
            if house.shards() == 1 { "" } else { "s" },
            drivers.join("+"),
            poll_words(&self.config.settings),
            self.names.join(", "),
        );
    }

    /// Looks after the house until it ends.
    pub(crate) fn keep(mut self, house: &House) {
        let mut ended = 0;
        // The last moment at which a stopping house still stands.
        let mut stopping: Option<Instant> = None;
        while ended < house.shards() {
            let note = match stopping {
                None => self.inbox.recv().ok(),
                Some(last) => self.inbox.recv_timeout(last.saturating_duration_since(Instant::now())).ok(),
            };
            match note {
                None => break,
                Some(Note::Ended(_)) => ended += 1,
                Some(Note::Signal(signal)) => {
                    if stopping.is_some() {
                        tracing::warn!("second signal: ending at once");
                        break;
                    }
                    let name = if signal == SIGTERM { "SIGTERM" } else { "SIGINT" };
                    tracing::info!("{name}: no new connections, sending what is due");
                    stopping = Some(stop(house, self.drain));
                }
                Some(Note::Request(request)) => {
                    let drain = self.carry_out(house, request);
                    stopping = stopping.or(drain.map(|drain| stop(house, drain)));
                }
            }
        }
        drop(self);
        tracing::info!("Corelane has ended");
    }

    /// Does a job. Where the server is to stop: how long it may take.
    fn carry_out(&mut self, house: &House, request: Request) -> Option<Duration> {
        let outcome = match request.job {
            Job::Shutdown { now } => {
                tracing::info!("SHUTDOWN: no new connections, sending what is due");
                return Some(if now { Duration::ZERO } else { self.drain });
            }
            Job::Crash => unreachable!("the core that was asked has ended the process"),
            Job::PurgeMemory => {
                crate::allocator::purge();
                Ok(())
            }
            Job::Log(text) => {
                tracing::warn!("DEBUG LOG: {text}");
                Ok(())
            }
            Job::ApplySettings { names, settings } => self.outside.apply(&names, &settings, &house.boxes),
            Job::SettingChanged(name, value) => {
                self.follow(name, &value);
                Ok(())
            }
            Job::RewriteConfig(settings) => match &self.config.file {
                None => Err("ERR The server is running without a config file".to_owned()),
                Some(path) => {
                    rewrite(path, &settings).map_err(|error| format!("ERR Rewriting config file: {error}"))
                }
            },
        };
        if let Some(ticket) = request.ticket {
            house.boxes[request.core].post(Letter::JobDone(ticket, outcome));
        }
        None
    }

    /// Obeys a setting that has changed.
    fn follow(&mut self, name: &str, value: &str) {
        match name {
            "loglevel" => {
                let level = LogLevel::NAMES.iter().position(|known| *known == value);
                self.log.set_level(LogLevel::at(level.expect("the shards have accepted it")));
            }
            "shutdown-timeout" => {
                self.drain = Duration::from_secs(value.parse().expect("the shards have accepted it"));
            }
            other => unreachable!("nobody outside of the shards follows {other}"),
        }
        tracing::info!("setting {name} is now {value}");
    }
}

/// Stops the house; the last moment at which it may still stand.
fn stop(house: &House, drain: Duration) -> Instant {
    house.stop(drain);
    Instant::now() + drain + GRACE
}

/// However the house ends, or fails to start: no file is left to say that it stands.
impl Drop for Keeper {
    fn drop(&mut self) {
        if let Some(control) = self.control.take() {
            drop(control);
        }
        for path in [self.unix.take(), self.pid_file.take()].into_iter().flatten() {
            let _ = std::fs::remove_file(path);
        }
    }
}
