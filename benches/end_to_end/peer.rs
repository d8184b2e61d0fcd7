//! The servers: how each is started on core 0, asked whether it lives, and how much CPU it has used.
//! It knows command lines, not what they serve.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// /proc counts CPU time in hundredths of a second on every Linux that we build for.
const TICKS_PER_SECOND: f64 = 100.0;

/// A server that can be measured.
#[derive(Clone)]
pub(crate) struct Peer {
    /// Name in the table.
    pub(crate) name: &'static str,
    program: PathBuf,
    arguments: Vec<String>,
}

const NAMES: [&str; 4] = ["redis", "valkey", "kevy", "corelane"];

/// Every peer whose program is on this machine, and ours, without which there is nothing to compare.
pub(crate) fn found_here() -> Result<Vec<Peer>, String> {
    let ours = named("corelane")?;
    let others = NAMES.iter().filter(|name| **name != "corelane").filter_map(|name| named(name).ok());
    Ok(others.chain([ours]).collect())
}

/// The peer of that name, or why it cannot be measured.
pub(crate) fn named(name: &str) -> Result<Peer, String> {
    let home = std::env::var("HOME").unwrap_or_default();
    let cache = std::env::var("CORELANE_TESTS_CACHE").unwrap_or(format!("{home}/.cache/corelane-tests"));
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or("target".into());
    let ours = std::env::var("CORELANE_BINARY").unwrap_or(format!("{target}/release/corelane"));
    let (name, program, arguments) = match name {
        "redis" => {
            ("redis", "/usr/bin/redis-server".into(), "--port {port} --dir {dir} --save  --appendonly no")
        }
        "valkey" => (
            "valkey",
            format!("{cache}/valkey/bin/valkey-server"),
            "--port {port} --dir {dir} --save  --appendonly no",
        ),
        "kevy" => {
            ("kevy", format!("{cache}/kevy/bin/kevy"), "--port {port} --dir {dir} --threads 1 --no-aof")
        }
        "corelane" => ("corelane", ours, "serve --port {port} --dir {dir} --shards 1"),
        _ => return Err(format!("no peer is called {name}")),
    };
    if !Path::new(&program).exists() {
        return Err(format!("{name}: {program} is not there"));
    }
    let mut arguments: Vec<String> = arguments.split(' ').map(String::from).collect();
    if name == "corelane" {
        let more = std::env::var("CORELANE_ARGS").unwrap_or_default();
        arguments.extend(more.split_whitespace().map(String::from));
    }
    Ok(Peer { name, program: program.into(), arguments })
}

impl Peer {
    /// Starts it in an empty folder, on core 0, and waits until it answers.
    pub(crate) fn start(&self) -> Result<Server, String> {
        let port = free_port()?;
        let folder = std::env::temp_dir().join(format!("end-to-end-{}-{port}", self.name));
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let fill = |argument: &String| {
            argument.replace("{port}", &port.to_string()).replace("{dir}", &folder.to_string_lossy())
        };
        let child = on_core(0, &self.program)
            .args(self.arguments.iter().map(fill))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", self.name))?;
        let server = Server { child, port, folder };
        server.wait_until_it_answers().map_err(|error| format!("{}: {error}", self.name))?;
        Ok(server)
    }
}

/// A program pinned to a core, in a session and so a scheduling group of its own, whose share is raised so
/// that others on the machine disturb a figure less. Best effort: only root may raise it.
pub(crate) fn on_core(core: usize, program: &Path) -> Command {
    let mut command = Command::new("setsid");
    command
        .args(["sh", "-c", "echo -20 2>/dev/null >/proc/self/autogroup; exec taskset -c \"$@\"", "sh"])
        .arg(core.to_string())
        .arg(program)
        .stdin(Stdio::null());
    command
}

/// A running server; dropped, it is killed and its folder removed.
pub(crate) struct Server {
    child: Child,
    port: u16,
    folder: PathBuf,
}

impl Server {
    /// The TCP port it listens on.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// User and system seconds of all its threads since its start.
    pub(crate) fn cpu_seconds(&self) -> Result<f64, String> {
        let path = format!("/proc/{}/stat", self.child.id());
        let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        cpu_ticks(&text).map(|ticks| ticks as f64 / TICKS_PER_SECOND).ok_or(format!("{path}: {text}"))
    }

    fn wait_until_it_answers(&self) -> Result<(), String> {
        let deadline = Instant::now() + Duration::from_secs(10);
        while Instant::now() < deadline {
            if answers_ping(self.port) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err("it does not answer PING".into())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// utime + stime: fields 14 and 15, counted after the name, which may hold spaces.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let after_name = &stat[stat.rfind(')')? + 1..];
    let mut fields = after_name.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

fn answers_ping(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let mut answer = [0; 7];
    stream.set_read_timeout(Some(Duration::from_secs(1))).is_ok()
        && stream.write_all(b"*1\r\n$4\r\nPING\r\n").is_ok()
        && stream.read_exact(&mut answer).is_ok()
        && &answer == b"+PONG\r\n"
}

fn free_port() -> Result<u16, String> {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).map_err(|error| error.to_string())?;
    Ok(listener.local_addr().map_err(|error| error.to_string())?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_read_past_a_name_with_spaces() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194560 1 2 3 4 250 50 0 0 20 0 1 0";
        assert_eq!(cpu_ticks(stat), Some(300));
    }
}
