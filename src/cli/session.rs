//! A conversation with a server: connect, log in, send commands, print replies, follow redirections, and
//! remember what changes the meaning of what follows (database, protocol, transaction).

use super::connection::{Connection, Lost, plain};
use super::format::{format, show};
use super::options::{Options, Output, Target};
use resp::client::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Redirections followed for one command: a cluster that sends us in circles must not keep us.
const REDIRECTIONS_MAX: usize = 16;

/// Commands that are sent before their replies are read.
const UNDER_WAY_MAX: usize = 512;

/// The state of a conversation.
pub(super) struct Session {
    pub(super) options: Options,
    pub(super) target: Target,
    connection: Option<Connection>,
    db: u32,
    resp3: bool,
    in_transaction: bool,
    /// Raised by Ctrl-C where that does not end the program.
    pub(super) interrupt: Option<Arc<AtomicBool>>,
}

/// A reply that was printed, as far as others care.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// Anything but an error.
    Fine,
    /// An error reply.
    Error,
}

impl Session {
    /// A conversation that has not begun.
    pub(super) fn new(options: Options) -> Self {
        Session {
            target: options.target.clone(),
            db: options.db,
            resp3: options.protocol == Some(3),
            options,
            connection: None,
            in_transaction: false,
            interrupt: None,
        }
    }

    /// Connects anew, logs in and selects the database. Failures are told on standard error.
    pub(super) fn connect(&mut self) -> Result<(), Lost> {
        self.connection = None;
        self.in_transaction = false;
        let connection = Connection::open(&self.target, self.options.connect_timeout);
        let connection = connection.map_err(|error| {
            eprintln!("Could not connect to Redis at {}: {}", self.address(), plain(&error));
            Lost::Unreachable
        })?;
        self.connection = Some(connection);
        if let Some(password) = self.options.password.clone() {
            let mut words = vec!["AUTH".to_string()];
            words.extend(self.options.user.clone());
            words.push(password);
            self.prepare(&words, "AUTH failed")?;
        }
        if self.resp3 || self.options.protocol == Some(2) {
            let version = if self.resp3 { "3" } else { "2" };
            self.prepare(&["HELLO", version], &format!("HELLO {version} failed"))?;
        }
        if self.db != 0 {
            let db = self.db.to_string();
            if !self.prepare(&["SELECT", &db], &format!("SELECT {db} failed"))? {
                self.db = 0;
            }
        }
        Ok(())
    }

    /// Sends a command of the set-up; an error is told and does not end the conversation.
    fn prepare<T: AsRef<[u8]>>(&mut self, words: &[T], failure: &str) -> Result<bool, Lost> {
        match self.ask_connected(words)? {
            Value::Error(text) => {
                eprintln!("{failure}: {text}");
                Ok(false)
            }
            _ => Ok(true),
        }
    }

    /// Where the server is, for people.
    pub(super) fn address(&self) -> String {
        match &self.target {
            Target::Tcp { host, port } if host.contains(':') => format!("[{host}]:{port}"),
            Target::Tcp { host, port } => format!("{host}:{port}"),
            Target::Unix(path) => path.display().to_string(),
        }
    }

    /// What stands before the cursor.
    pub(super) fn prompt(&self) -> String {
        if self.connection.is_none() {
            return "not connected> ".into();
        }
        let db = if self.db == 0 { String::new() } else { format!("[{}]", self.db) };
        let transaction = if self.in_transaction { "(TX)" } else { "" };
        format!("{}{db}{transaction}> ", self.address())
    }

    /// Is there a connection, as far as we know?
    pub(super) fn is_connected(&self) -> bool {
        self.connection.is_some()
    }

    /// The connection, made if there is none.
    pub(super) fn connected(&mut self) -> Result<&mut Connection, Lost> {
        if self.connection.is_none() {
            self.connect()?;
        }
        self.connection.as_mut().ok_or(Lost::Unreachable)
    }

    /// Sends a command and waits for its reply; nothing is printed.
    pub(super) fn ask<T: AsRef<[u8]>>(&mut self, words: &[T]) -> Result<Value, Lost> {
        self.connected()?;
        self.ask_connected(words)
    }

    /// Sends commands and waits for their replies, many under way at a time; nothing is printed.
    pub(super) fn ask_all(&mut self, commands: &[Vec<Vec<u8>>]) -> Result<Vec<Value>, Lost> {
        self.connected()?;
        let interrupt = self.interrupt.clone();
        let connection = self.connection.as_mut().ok_or(Lost::Unreachable)?;
        let mut replies = Vec::with_capacity(commands.len());
        for some in commands.chunks(UNDER_WAY_MAX) {
            connection.send_all(some)?;
            let end = replies.len() + some.len();
            while replies.len() < end {
                match connection.receive(interrupt.as_deref())? {
                    Value::Push(_) => {}
                    reply => replies.push(reply),
                }
            }
        }
        Ok(replies)
    }

    fn ask_connected<T: AsRef<[u8]>>(&mut self, words: &[T]) -> Result<Value, Lost> {
        let interrupt = self.interrupt.clone();
        let connection = self.connection.as_mut().ok_or(Lost::Unreachable)?;
        connection.send(words)?;
        loop {
            match connection.receive(interrupt.as_deref())? {
                Value::Push(_) => {}
                reply => return Ok(reply),
            }
        }
    }

    /// Runs a command and prints its reply. A connection that turns out to be lost is made again, once.
    pub(super) fn run(&mut self, words: &[Vec<u8>]) -> Result<Answer, Lost> {
        let ran = match self.run_once(words) {
            Err(Lost::Closed | Lost::Io(_)) if !is(words, "SHUTDOWN") => {
                self.connect()?;
                self.run_once(words)
            }
            ran => ran,
        };
        match ran {
            // The server has done what it was asked to.
            Err(Lost::Closed) if is(words, "SHUTDOWN") => {
                self.connection = None;
                Ok(Answer::Fine)
            }
            Err(lost) => {
                self.connection = None;
                Err(lost)
            }
            ran => ran,
        }
    }

    fn run_once(&mut self, words: &[Vec<u8>]) -> Result<Answer, Lost> {
        self.connected()?;
        for redirection in 0..=REDIRECTIONS_MAX {
            let reply = self.exchange(words)?;
            if let Value::Error(text) = &reply
                && self.options.follow_cluster
                && redirection < REDIRECTIONS_MAX
                && self.redirect(text)?
            {
                continue;
            }
            return Ok(self.conclude(words, &reply));
        }
        unreachable!("the last round concludes")
    }

    /// Sends a command and prints replies up to the one that concludes it.
    fn exchange(&mut self, words: &[Vec<u8>]) -> Result<Value, Lost> {
        let connection = self.connection.as_mut().ok_or(Lost::Unreachable)?;
        connection.send(words)?;
        if is(words, "MONITOR") {
            return self.stream();
        }
        let subscribing = ["SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE"].iter().any(|name| is(words, name));
        let unsubscribing =
            ["UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE"].iter().any(|name| is(words, name));
        if subscribing && words.len() > 1 {
            if self.options.output == Output::Standard {
                show(b"Reading messages... (press Ctrl-C to quit)\n");
            }
            return self.stream();
        }
        // Each channel is confirmed by a push of its own; at least one comes.
        let mut confirmations = if unsubscribing { (words.len() - 1).max(1) } else { 0 };
        loop {
            let reply = self.receive()?;
            if let Value::Push(_) = &reply {
                if confirmations > 0 {
                    self.print(&reply, words);
                    confirmations -= 1;
                    if confirmations == 0 {
                        return Ok(reply);
                    }
                } else if self.options.show_pushes {
                    self.print(&reply, &[]);
                }
                continue;
            }
            confirmations = confirmations.saturating_sub(1);
            self.print_reply(&reply, words);
            if confirmations == 0 || matches!(reply, Value::Error(_)) {
                return Ok(reply);
            }
        }
    }

    /// Prints all that comes, until an error or an interruption.
    fn stream(&mut self) -> Result<Value, Lost> {
        loop {
            let reply = self.receive()?;
            self.print_reply(&reply, &[]);
            if let Value::Error(_) = reply {
                return Ok(reply);
            }
        }
    }

    fn receive(&mut self) -> Result<Value, Lost> {
        let interrupt = self.interrupt.clone();
        self.connection.as_mut().ok_or(Lost::Unreachable)?.receive(interrupt.as_deref())
    }

    /// Prints a reply, unless it is a redirection to follow or an error that ends the program.
    fn print_reply(&self, reply: &Value, words: &[Vec<u8>]) {
        if let Value::Error(text) = reply {
            if self.options.follow_cluster && Redirection::parse(text).is_some() {
                return;
            }
            if self.options.fail_on_error {
                eprintln!("{text}");
                return;
            }
        }
        self.print(reply, words);
    }

    fn print(&self, reply: &Value, words: &[Vec<u8>]) {
        show(&format(reply, &self.options, is_text_for_people(words)));
    }

    /// Goes where the error points, if it does; true if the command is to be sent again.
    fn redirect(&mut self, error: &str) -> Result<bool, Lost> {
        let Some(redirection) = Redirection::parse(error) else { return Ok(false) };
        if self.options.output == Output::Standard {
            let Redirection { slot, host, port, .. } = &redirection;
            show(format!("-> Redirected to slot [{slot}] located at {host}:{port}\n").as_bytes());
        }
        if !redirection.host.is_empty() {
            self.target = Target::Tcp { host: redirection.host, port: redirection.port };
        } else if let Target::Tcp { port, .. } = &mut self.target {
            *port = redirection.port;
        }
        self.connect()?;
        if redirection.ask {
            self.ask_connected(&["ASKING"])?;
        }
        Ok(true)
    }

    /// Takes note of commands that change what follows.
    fn conclude(&mut self, words: &[Vec<u8>], reply: &Value) -> Answer {
        let failed = matches!(reply, Value::Error(_));
        let word = |index: usize| words.get(index).and_then(|word| std::str::from_utf8(word).ok());
        if is(words, "EXEC") || (is(words, "DISCARD") && !failed) {
            self.in_transaction = false;
        }
        if failed {
            return Answer::Error;
        }
        if is(words, "SELECT") && !self.in_transaction {
            self.db = word(1).and_then(|db| db.parse().ok()).unwrap_or(self.db);
        } else if is(words, "MULTI") {
            self.in_transaction = true;
        } else if is(words, "RESET") {
            (self.db, self.resp3, self.in_transaction) = (0, false, false);
        } else if is(words, "HELLO") {
            match word(1) {
                Some("3") => self.resp3 = true,
                Some("2") => self.resp3 = false,
                _ => {}
            }
        }
        Answer::Fine
    }

    /// Has Ctrl-C been pressed since the last look?
    pub(super) fn take_interrupt(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|flag| flag.swap(false, Ordering::Relaxed))
    }

    /// Goes to another server.
    pub(super) fn go_to(&mut self, target: Target) {
        self.target = target;
        self.connection = None;
    }
}

/// `MOVED 1234 10.0.0.1:7000` or `ASK ...`.
struct Redirection {
    slot: String,
    host: String,
    port: u16,
    ask: bool,
}

impl Redirection {
    fn parse(error: &str) -> Option<Redirection> {
        let mut words = error.split(' ');
        let ask = match words.next()? {
            "MOVED" => false,
            "ASK" => true,
            _ => return None,
        };
        let slot = words.next()?.to_string();
        let (host, port) = words.next()?.rsplit_once(':')?;
        Some(Redirection { slot, host: host.into(), port: port.parse().ok()?, ask })
    }
}

/// Is this the command?
pub(super) fn is(words: &[Vec<u8>], name: &str) -> bool {
    words.first().is_some_and(|word| word.eq_ignore_ascii_case(name.as_bytes()))
}

/// Is the reply a text with lines of its own, to be written as it is?
fn is_text_for_people(words: &[Vec<u8>]) -> bool {
    let second = |names: &[&str]| {
        words.get(1).is_some_and(|word| names.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes())))
    };
    is(words, "INFO")
        || is(words, "LOLWUT")
        || is(words, "DEBUG") && second(&["HTSTATS", "HTSTATS-KEY"])
        || is(words, "MEMORY") && second(&["MALLOC-STATS", "DOCTOR"])
        || is(words, "CLUSTER") && words.len() == 2 && second(&["NODES", "INFO"])
        || is(words, "CLIENT") && second(&["LIST", "INFO"])
        || is(words, "LATENCY") && second(&["GRAPH", "DOCTOR"])
}
