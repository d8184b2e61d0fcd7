//! Commands line by line: from a terminal with history, completion and hints, or from a pipe.

use super::documents::Documents;
use super::format::show;
use super::line::LineHelper;
use super::oneshot::run_repeatedly;
use super::options::{Output, Target};
use super::session::{Session, is};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};
use spec::setting::split_words;
use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Commands that take at least this long have their time shown.
const SLOW_S: f64 = 0.5;

const HELP: &str = "\
corelane cli
To get help about commands type:
      \"help @<group>\" to get a list of commands in <group>
      \"help <command>\" for help on <command>
      \"help <tab>\" to get a list of possible help topics
      \"quit\" to exit

To set preferences:
      \":set hints\" enable online hints
      \":set nohints\" disable online hints
";

/// What to do after a line.
#[derive(PartialEq, Eq)]
enum After {
    Next,
    Quit,
    Hints(bool),
}

/// Reads and runs commands until the end; true if the program is to end well.
pub(super) fn run(session: &mut Session) -> bool {
    let interrupt = Arc::new(AtomicBool::new(false));
    // Without the handler, Ctrl-C ends the program: that is no reason not to start.
    if signal_hook::flag::register(signal_hook::consts::SIGINT, interrupt.clone()).is_ok() {
        session.interrupt = Some(interrupt);
    }
    if std::io::stdin().is_terminal() {
        match converse(session) {
            Ok(()) => true,
            Err(error) => {
                eprintln!("Error: {error}");
                false
            }
        }
    } else {
        session.interrupt = None;
        read_pipe(session)
    }
}

/// Commands from a pipe or a file.
fn read_pipe(session: &mut Session) -> bool {
    // Told at once, as redis-cli does, and tried again with each command.
    let _ = session.connect();
    let documents = Documents::default();
    for line in std::io::stdin().lock().split(b'\n') {
        let Ok(line) = line else { return false };
        if process(session, &documents, &line) == After::Quit {
            break;
        }
    }
    true
}

/// A conversation with a person.
fn converse(session: &mut Session) -> rustyline::Result<()> {
    let config = Config::builder()
        .completion_type(CompletionType::Circular)
        .max_history_size(10_000)?
        .history_ignore_dups(true)?
        .build();
    let mut editor: Editor<LineHelper, FileHistory> = Editor::with_config(config)?;
    let history = history_file();
    if let Some(file) = &history {
        // A first start has no history.
        let _ = editor.load_history(file);
    }
    let _ = session.connect();
    editor.set_helper(Some(LineHelper::new(Documents::load(session))));
    loop {
        let line = match editor.readline(&session.prompt()) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => {
                session.take_interrupt();
                continue;
            }
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error),
        };
        if !line.trim().is_empty() && !holds_secret(&line) {
            editor.add_history_entry(line.as_str())?;
            if let Some(file) = &history {
                keep_history(&mut editor, file);
            }
        }
        let helper = editor.helper_mut().expect("set above");
        // What was not known before AUTH may be known now.
        if helper.documents.is_empty() && session.is_connected() {
            helper.documents = Documents::load(session);
        }
        match process(session, &helper.documents, line.as_bytes()) {
            After::Quit => break,
            After::Hints(on) => helper.hints = on,
            After::Next => {}
        }
    }
    Ok(())
}

/// Runs one line.
fn process(session: &mut Session, documents: &Documents, line: &[u8]) -> After {
    let Some(words) = split_words(line) else {
        show(b"Invalid argument(s)\n");
        return After::Next;
    };
    let text = |index: usize| words.get(index).map(|word| String::from_utf8_lossy(word).to_ascii_lowercase());
    let (first, second) = (text(0).unwrap_or_default(), text(1).unwrap_or_default());
    match (first.as_str(), words.len()) {
        ("", 0) => return After::Next,
        ("quit" | "exit", 1) => return After::Quit,
        ("clear", 1) => show(b"\x1b[H\x1b[2J"),
        ("help" | "?", 1) => show(HELP.as_bytes()),
        ("help" | "?", _) => {
            let topic: Vec<_> = words[1..].iter().map(|word| String::from_utf8_lossy(word)).collect();
            let topic = topic.join(" ");
            let help = match documents.is_empty() {
                true => Documents::load(session).help(&topic),
                false => documents.help(&topic),
            };
            show(help.as_bytes());
        }
        (":set", 2) if second == "hints" => return After::Hints(true),
        (":set", 2) if second == "nohints" => return After::Hints(false),
        ("connect", 3) => match text(2).and_then(|port| port.parse().ok()) {
            Some(port) => {
                session.go_to(Target::Tcp { host: second, port });
                let _ = session.connect();
            }
            None => show(b"Invalid port\n"),
        },
        (name, _) if name.starts_with(':') => show(b"Unknown preference\n"),
        _ => return run_line(session, &words),
    }
    After::Next
}

/// Runs a command, which a number may precede that says how often.
fn run_line(session: &mut Session, words: &[Vec<u8>]) -> After {
    let number = std::str::from_utf8(&words[0]).ok().and_then(|word| word.parse::<i64>().ok());
    let (times, words) = match number {
        Some(times) if words.len() > 1 && times <= 0 => {
            show(b"Invalid redis-cli repeat command option value.\n");
            return After::Next;
        }
        Some(times) if words.len() > 1 => (times, &words[1..]),
        _ => (1, words),
    };
    let start = Instant::now();
    session.take_interrupt();
    run_repeatedly(session, words, times);
    if session.take_interrupt() {
        show(b"\n");
        // The old connection may still owe us replies, or be subscribed.
        let _ = session.connect();
    }
    let elapsed = start.elapsed().as_secs_f64();
    if elapsed >= SLOW_S && session.options.output == Output::Standard {
        show(format!("({elapsed:.2}s)\n").as_bytes());
    }
    After::Next
}

/// Lines with a password are not kept.
fn holds_secret(line: &str) -> bool {
    let Some(words) = split_words(line.as_bytes()) else { return false };
    let says = |word: &str| words.iter().any(|own| own.eq_ignore_ascii_case(word.as_bytes()));
    is(&words, "AUTH")
        || is(&words, "HELLO") && says("AUTH")
        || is(&words, "MIGRATE") && (says("AUTH") || says("AUTH2"))
        || is(&words, "ACL") && says("SETUSER")
        || is(&words, "CONFIG") && says("SET") && (says("requirepass") || says("masterauth"))
}

/// Where lines are kept; CORELANE_CLI_HISTORY names another file, and an empty one none.
fn history_file() -> Option<PathBuf> {
    match std::env::var_os("CORELANE_CLI_HISTORY") {
        Some(file) if file.is_empty() => None,
        Some(file) => Some(file.into()),
        None => std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".corelane_history")),
    }
}

/// Adds the line to the file, readable by its owner alone. A history that cannot be kept is no reason
/// to disturb somebody at work.
fn keep_history(editor: &mut Editor<LineHelper, FileHistory>, file: &PathBuf) {
    use std::os::unix::fs::OpenOptionsExt;
    let created = std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(file);
    if created.is_ok() {
        let _ = editor.append_history(file);
    }
}
