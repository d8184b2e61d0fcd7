//! The log: where it goes and how much of it, from the settings. Data cores do not log while they serve.
//! Knows nothing of what is said.

use spec::Settings;
use spec::setting::LogLevel;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::sync::Mutex;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::prelude::*;
use tracing_subscriber::{Registry, fmt, reload};

/// Holds the level of the log while the server runs.
#[derive(Clone)]
pub struct Log(reload::Handle<LevelFilter, Registry>);

impl Log {
    /// Logs from this level on.
    pub fn set_level(&self, level: LogLevel) {
        // It fails only where the log has ended with the process.
        let _ = self.0.reload(filter(level));
    }
}

fn filter(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Debug => LevelFilter::TRACE,
        LogLevel::Verbose => LevelFilter::DEBUG,
        LogLevel::Notice => LevelFilter::INFO,
        LogLevel::Warning => LevelFilter::WARN,
    }
}

/// Sends the log to `logfile` (standard output where it is empty) from `loglevel` on.
///
/// # Errors
/// Where the file cannot be opened.
pub fn begin(settings: &Settings) -> Result<Log, String> {
    let path = settings.value("logfile").text();
    let outlet: Box<dyn Write + Send> = if path.is_empty() {
        Box::new(io::stdout())
    } else {
        let file = OpenOptions::new().create(true).append(true).open(path);
        Box::new(file.map_err(|error| format!("cannot open the log file {path}: {error}"))?)
    };
    let (level, handle) = reload::Layer::new(filter(settings.live.loglevel));
    let lines = fmt::layer()
        .with_ansi(false)
        .with_target(false)
        .log_internal_errors(false)
        .with_writer(Mutex::new(Patient::new(outlet)));
    tracing_subscriber::registry().with(level).with(lines).init();
    Ok(Log(handle))
}

/// An outlet that may be full or gone for a while: lines are dropped and counted, and the server goes on.
/// Every `write` is a whole line.
struct Patient<W> {
    outlet: W,
    lost: u64,
    /// The last line broke off.
    broken: bool,
}

impl<W: Write> Patient<W> {
    fn new(outlet: W) -> Patient<W> {
        Patient { outlet, lost: 0, broken: false }
    }

    /// Writes all of it or says why not; `broken` tells whether a part has gone out.
    fn put(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.outlet.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            self.broken = !bytes.is_empty();
        }
        self.outlet.flush()
    }

    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        if self.broken {
            self.put(b"\n")?;
        }
        if self.lost > 0 {
            let note = format!("... {} lines of the log could not be written\n", self.lost);
            self.put(note.as_bytes())?;
            self.lost = 0;
        }
        self.put(line)
    }
}

impl<W: Write> Write for Patient<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.line(line).is_err() {
            self.lost += 1;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes as many bytes as there is room for.
    struct Disk {
        room: usize,
        held: Vec<u8>,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.room);
            if count == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.room -= count;
            self.held.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_loses_lines_and_says_so_when_there_is_room_again() {
        let mut log = Patient::new(Disk { room: 8, held: Vec::new() });
        for line in ["first\n", "second\n", "third\n"] {
            log.write_all(line.as_bytes()).expect("nobody is disturbed");
        }
        log.outlet.room = 1000;
        log.write_all(b"fourth\n").expect("there is room");
        let held = String::from_utf8(log.outlet.held).expect("text");
        assert_eq!(held, "first\nse\n... 2 lines of the log could not be written\nfourth\n");
    }
}
