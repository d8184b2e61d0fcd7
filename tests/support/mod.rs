//! A server of a test's own, started from the real binary on free loopback ports, and clients that speak
//! to it over real sockets. Knows no test.

pub(crate) mod client;
pub(crate) mod process;

pub(crate) use client::{Client, Reply, encode};
pub(crate) use process::Process;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// No wait of a test lasts longer: what has not come by then never will. The machine may be busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A running server; killed when the test ends.
pub(crate) struct Server {
    child: Option<Child>,
    pub pid: u32,
    pub port: u16,
    pub control: u16,
    /// Its own folder: log, socket, pid file.
    pub folder: PathBuf,
}

impl Server {
    /// Starts it with these flags besides its ports, and waits until it is ready.
    pub(crate) fn start(flags: &[&str]) -> Server {
        Self::start_by(|_| {}, flags)
    }

    /// The same with a command that the caller may dress.
    pub(crate) fn start_by(dress: impl FnOnce(&mut Command), flags: &[&str]) -> Server {
        let folder = scratch_folder();
        let (port, control) = (free_port(), free_port());
        let mut command = Command::new(binary());
        dress(&mut command);
        let child = launch(&mut command, &folder, port, control, flags);
        let mut server = Server { pid: child.id(), child: Some(child), port, control, folder };
        server.await_ready();
        server
    }

    fn await_ready(&mut self) {
        let start = Instant::now();
        while !self.log().contains(" is ready: ") {
            let ended = self.child.as_mut().and_then(|child| child.try_wait().expect("it is our child"));
            assert!(ended.is_none(), "the server ended ({ended:?}):\n{}", self.log());
            assert!(start.elapsed() < PATIENCE, "the server is not ready:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// What it has printed.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    pub(crate) fn connect(&self) -> Client<TcpStream> {
        self.connect_to(self.port)
    }

    pub(crate) fn connect_to(&self, port: u16) -> Client<TcpStream> {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
        stream.set_nodelay(true).expect("a TCP socket");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout above zero");
        stream.set_write_timeout(Some(PATIENCE)).expect("a timeout above zero");
        Client::new(stream)
    }

    pub(crate) fn connect_unix(&self) -> Client<UnixStream> {
        let stream = UnixStream::connect(self.folder.join("socket")).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout above zero");
        Client::new(stream)
    }

    pub(crate) fn process(&self) -> Process {
        Process(self.pid)
    }

    /// Status line and body of a page of the control port.
    pub(crate) fn page(&self, path: &str) -> (String, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.control)).expect("the control port listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout above zero");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n").expect("it listens");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("it answers in text");
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        (head.lines().next().unwrap_or("").to_owned(), body.to_owned())
    }

    /// The sum of a metric over its labels.
    pub(crate) fn metric(&self, name: &str) -> f64 {
        let (_, body) = self.page("/metrics");
        let values: Vec<f64> = body
            .lines()
            .filter(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '{'])))
            .filter_map(|line| line.rsplit(' ').next()?.parse().ok())
            .collect();
        assert!(!values.is_empty(), "no metric {name} in:\n{body}");
        values.iter().sum()
    }

    /// Sends SIGTERM and waits for the end. Its status, and how long it took.
    pub(crate) fn terminate(&mut self) -> (ExitStatus, Duration) {
        self.process().terminate();
        self.await_end()
    }

    /// Waits until it has ended by itself.
    pub(crate) fn await_end(&mut self) -> (ExitStatus, Duration) {
        let start = Instant::now();
        let child = self.child.as_mut().expect("it runs");
        loop {
            if let Some(status) = child.try_wait().expect("it is our child") {
                self.child = None;
                return (status, start.elapsed());
            }
            assert!(start.elapsed() < PATIENCE, "the server does not end:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
        if std::thread::panicking() {
            eprintln!("--- the server's log:\n{}", self.log());
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn launch(command: &mut Command, folder: &Path, port: u16, control: u16, flags: &[&str]) -> Child {
    let log = std::fs::File::create(folder.join("log")).expect("a scratch folder is writable");
    command
        .args(["--port", &port.to_string(), "--control-port", &control.to_string(), "--dir"])
        .arg(folder)
        .args(flags.iter().map(|flag| flag.replace("FOLDER", &folder.display().to_string())))
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a descriptor is left"))
        .stderr(log);
    command.spawn().expect("the binary starts")
}

/// The drivers that this machine allows.
pub(crate) fn drivers() -> Vec<&'static str> {
    match uring::UringPoller::new(Vec::new(), port::sockets::SocketOptions::default()) {
        Ok(_) => vec!["uring", "epoll"],
        Err(denied) => {
            eprintln!("io_uring is not allowed here, epoll alone is tested: {denied}");
            vec!["epoll"]
        }
    }
}

/// The server's binary.
pub(crate) fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_corelane")
}

/// A start that must fail: exit code and what was printed.
pub(crate) fn refused_start(flags: &[&str]) -> (Option<i32>, String) {
    let folder = scratch_folder();
    let mut child = launch(&mut Command::new(binary()), &folder, free_port(), free_port(), flags);
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("it is our child") {
            break status;
        }
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            panic!("started with {flags:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let text = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
    let _ = std::fs::remove_dir_all(&folder);
    (status.code(), text)
}

/// A port of loopback that was free just now. Below those that the kernel gives to clients: a storm of
/// them would take it before the server does.
pub(crate) fn free_port() -> u16 {
    free_ports(1)
}

/// A run of free ports.
pub(crate) fn free_ports(count: u16) -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let own_start = std::process::id().wrapping_mul(701);
    for _ in 0..5000 {
        let place = own_start.wrapping_add(NEXT.fetch_add(u32::from(count), Ordering::Relaxed));
        let first = 12_000 + (place % 20_000) as u16;
        if (first..first + count).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok()) {
            return first;
        }
    }
    panic!("no {count} free ports in a row");
}

/// A new folder that any user may write to: some servers run as nobody.
fn scratch_folder() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("corelane-test-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder is writable");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(&folder, open).expect("it is ours");
    folder
}

/// Waits until something holds.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A splitmix64 generator: a test is the same in every run.
pub(crate) struct Dice(pub u64);

impl Dice {
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.roll() % bound as u64) as usize
    }
}
