//! `corelane cli` as a person sees it: through a pseudo terminal, against a server of the test's own. Knows
//! keys and what appears on the screen; the formats themselves are compared with redis-cli in `cli.rs`.
#![forbid(unsafe_code)]

#[allow(dead_code, unused_imports, reason = "each test file uses its own part")]
mod support;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc;
use std::time::Instant;
use support::{PATIENCE, Server, binary};

const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const ENTER: &str = "\r";
const TAB: &str = "\t";
const UP: &str = "\x1b[A";

/// A terminal with the client on it.
struct Terminal {
    child: Child,
    keys: File,
    screen: mpsc::Receiver<Vec<u8>>,
    /// What has appeared and was not waited for yet.
    seen: String,
}

impl Terminal {
    /// `setsid --ctty` makes the terminal the client's own, so that Ctrl-C is a signal while it waits.
    fn open(server: &Server, history: &Path) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("the system has terminals");
        grantpt(&master).expect("it is ours");
        unlockpt(&master).expect("it is ours");
        let size = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).expect("a terminal has a size");
        let name = ptsname(&master, Vec::new()).expect("it has a name");
        let name = PathBuf::from(name.to_str().expect("a path in ASCII"));
        let side = || OpenOptions::new().read(true).write(true).open(&name).expect("the other side opens");
        let child = Command::new("setsid")
            .args(["--ctty", binary(), "cli", "-p", &server.port.to_string()])
            .env("TERM", "xterm")
            .env("CORELANE_CLI_HISTORY", history)
            .stdin(side())
            .stdout(side())
            .stderr(side())
            .spawn()
            .expect("util-linux is installed");
        let keys = File::from(master);
        let mut output = keys.try_clone().expect("a descriptor is left");
        let (sender, screen) = mpsc::channel();
        // It ends with the terminal: reading fails once nobody has the other side open.
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Terminal { child, keys, screen, seen: String::new() }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("the terminal is open");
    }

    /// Waits until this appears; returns what stood before it.
    #[track_caller]
    fn see(&mut self, wanted: &str) -> String {
        let start = Instant::now();
        loop {
            if let Some(place) = self.seen.find(wanted) {
                let rest = self.seen.split_off(place + wanted.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            let patience = PATIENCE.saturating_sub(start.elapsed());
            match self.screen.recv_timeout(patience) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => panic!("waited in vain for {wanted:?}; since then there was {:?}", self.seen),
            }
        }
    }

    /// Types a line once the client asks for one.
    #[track_caller]
    fn line(&mut self, line: &str) {
        self.see("> ");
        self.press(line);
        self.press(ENTER);
    }

    fn end(mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("it is our child") {
                return status;
            }
            assert!(start.elapsed() < PATIENCE, "the client does not end");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn served() -> (Server, PathBuf) {
    let server = Server::start(&["--shards", "2", "--enable-debug-command", "yes"]);
    let history = server.folder.join("history");
    (server, history)
}

#[test]
fn replies_of_several_lines_are_numbered_and_indented() {
    let (server, history) = served();
    let mut terminal = Terminal::open(&server, &history);
    terminal.line("MSET a one b \"two\\n2\"");
    terminal.see("OK\r\n");
    terminal.line("MGET a nosuch b");
    terminal.see("1) \"one\"\r\n2) (nil)\r\n3) \"two\\n2\"\r\n");
    terminal.line("COMMAND INFO PING");
    terminal.see("1)  1) \"ping\"\r\n    2) (integer) -1\r\n    3) 1) fast\r\n");
    terminal.line("HELLO 3");
    terminal.see("1# \"server\" => \"redis\"\r\n");
    terminal.line("SET a");
    terminal.see("(error) ERR wrong number of arguments for 'set' command\r\n");
    terminal.line("SELECT 3");
    terminal.see(&format!("127.0.0.1:{}[3]", server.port));
    terminal.line("quit");
    assert!(terminal.end().success());
}

#[test]
fn names_are_completed_and_arguments_hinted_from_the_servers_documents() {
    let (server, history) = served();
    let mut terminal = Terminal::open(&server, &history);
    terminal.see("> ");
    terminal.press("GETRAN");
    terminal.press(TAB);
    terminal.see("GETRANGE");
    terminal.press(" k");
    terminal.see(" start end");
    terminal.press(" 0 1");
    terminal.press(ENTER);
    terminal.see("\"\"\r\n");
    terminal.line(":set nohints");
    terminal.see("> ");
    terminal.press("LCS a");
    terminal.press(ENTER);
    assert!(!terminal.see("(error)").contains("key2"), "a hint is shown");
    terminal.line("help GETSET");
    terminal.see("since: 1.0.0");
    terminal.line("quit");
    assert!(terminal.end().success());
}

#[test]
fn lines_are_kept_for_the_next_time_but_for_secrets() {
    let (server, history) = served();
    let mut terminal = Terminal::open(&server, &history);
    terminal.line("SET remembered yes");
    terminal.see("OK\r\n");
    terminal.line("AUTH nobody secret");
    terminal.see("(error)");
    terminal.line("exit");
    assert!(terminal.end().success());
    let kept = std::fs::read_to_string(&history).expect("it was written");
    assert!(kept.contains("SET remembered yes") && !kept.contains("secret"), "{kept}");
    let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&history).expect("it is there"));
    assert_eq!(mode & 0o777, 0o600, "others may not read it");
    let mut terminal = Terminal::open(&server, &history);
    terminal.see("> ");
    // The last line is exit, the one before it our command.
    terminal.press(UP);
    terminal.press(UP);
    terminal.see("SET remembered yes");
    terminal.press(ENTER);
    terminal.see("OK\r\n");
    terminal.see("> ");
    terminal.press(CTRL_D);
    assert!(terminal.end().success());
}

#[test]
fn ctrl_c_drops_a_line_or_a_wait_and_ctrl_d_ends_the_client() {
    let (server, history) = served();
    let mut terminal = Terminal::open(&server, &history);
    terminal.see("> ");
    terminal.press("SET half");
    terminal.see("half");
    terminal.press(CTRL_C);
    terminal.line("DEBUG SLEEP 1000");
    terminal.see("1000");
    support::until("the command has reached the server", || {
        server.connect().says("CLIENT LIST").contains("cmd=debug")
    });
    terminal.press(CTRL_C);
    terminal.line("PING still here");
    terminal.see("(error)");
    terminal.line("ECHO \"still here\"");
    terminal.see("\"still here\"\r\n");
    terminal.see("> ");
    terminal.press(CTRL_D);
    assert!(terminal.end().success());
    assert_eq!(server.connect().says("EXISTS half"), ":0");
}

#[test]
fn a_server_that_has_gone_is_missed_in_words() {
    let (mut server, history) = served();
    let mut terminal = Terminal::open(&server, &history);
    terminal.line("PING");
    terminal.see("PONG\r\n");
    server.terminate();
    terminal.line("PING");
    terminal.see("Connection refused");
    terminal.see("not connected> ");
    terminal.press("quit");
    terminal.press(ENTER);
    assert!(terminal.end().success());
}
