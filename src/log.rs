//! The log: where it goes and how much of it, from the settings. Data cores do not log while they serve.

use spec::Settings;
use spec::setting::LogLevel;
use std::fs::OpenOptions;
use std::sync::Mutex;
use tracing::Level;

/// Sends the log to `logfile` (standard output where it is empty) from `loglevel` on.
///
/// # Errors
/// Where the file cannot be opened.
pub fn begin(settings: &Settings) -> Result<(), String> {
    let level = match settings.live.loglevel {
        LogLevel::Debug => Level::TRACE,
        LogLevel::Verbose => Level::DEBUG,
        LogLevel::Notice => Level::INFO,
        LogLevel::Warning => Level::WARN,
    };
    let log = tracing_subscriber::fmt().with_ansi(false).with_target(false).with_max_level(level);
    let path = settings.value("logfile").text();
    if path.is_empty() {
        log.init();
        return Ok(());
    }
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(|error| format!("cannot open the log file {path}: {error}"))?;
    log.with_writer(Mutex::new(file)).init();
    Ok(())
}
