//! Options of `corelane cli`, with the letters of redis-cli.

use super::uri::Uri;
use crate::args::{Stop, version};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use spec::setting::split_words;
use std::ffi::OsString;
use std::io::{IsTerminal, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::Duration;

/// How replies are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Output {
    /// For people: types, indices, quotes.
    Standard,
    /// For programs: the bytes alone.
    Raw,
    /// Comma-separated values.
    Csv,
    /// JSON.
    Json,
    /// JSON with bytes outside ASCII quoted.
    QuotedJson,
}

/// What to do.
#[derive(Clone, Debug)]
pub(super) enum Mode {
    /// Run one command.
    Command,
    /// Read commands, from a person or a pipe.
    Interactive,
    /// Send raw protocol from standard input.
    Pipe {
        /// Seconds to wait for the last reply; 0 for ever.
        timeout_s: u64,
    },
    /// List keys.
    Scan {
        /// Which keys.
        pattern: Option<Vec<u8>>,
        /// The COUNT of each SCAN.
        count: Option<u64>,
    },
    /// Look through all keys for some of them.
    Sample {
        /// Which ones.
        sought: Sought,
        /// Which keys to look at.
        pattern: Option<Vec<u8>>,
        /// The COUNT of each SCAN.
        count: Option<u64>,
    },
    /// Print figures of the server, again and again.
    Stat,
    /// Measure round trips.
    Latency {
        /// Start a new line each interval.
        history: bool,
    },
}

/// Which keys are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sought {
    /// Those with most elements.
    Big,
    /// Those that take most memory.
    Memory {
        /// Elements of each that the server measures.
        samples: Option<u64>,
    },
    /// Those that are used most.
    Hot,
}

/// Where the server is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Target {
    /// A TCP address.
    Tcp {
        /// Name or address.
        host: String,
        /// Port.
        port: u16,
    },
    /// A Unix socket.
    Unix(PathBuf),
}

/// Everything that was asked for.
#[derive(Clone, Debug)]
pub struct Options {
    pub(super) target: Target,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    pub(super) db: u32,
    /// 2 or 3 where one was asked for.
    pub(super) protocol: Option<u8>,
    /// Times to run the command; -1 for ever.
    pub(super) repeat: i64,
    pub(super) interval: Option<Duration>,
    pub(super) output: Output,
    pub(super) bulk_delimiter: Vec<u8>,
    pub(super) command_delimiter: Vec<u8>,
    pub(super) follow_cluster: bool,
    pub(super) fail_on_error: bool,
    pub(super) show_pushes: bool,
    pub(super) connect_timeout: Option<Duration>,
    pub(super) warn_of_password: bool,
    pub(super) mode: Mode,
    pub(super) command: Vec<Vec<u8>>,
}

/// The command line's grammar.
pub fn command() -> Command {
    Command::new("corelane cli")
        .about("Talk to a server: run one command, or read commands interactively")
        .override_usage("corelane cli [OPTIONS] [COMMAND [ARG...]]")
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args(conversation())
        .args(output_and_modes())
        .arg(
            Arg::new("command")
                .value_name("COMMAND")
                .num_args(0..)
                .trailing_var_arg(true)
                .value_parser(value_parser!(OsString))
                .help("A command with its arguments"),
        )
}

/// An option with a value.
fn value(id: &'static str, name: &'static str, help: &'static str) -> Arg {
    Arg::new(id).value_name(name).help(help).allow_hyphen_values(true)
}

/// An option without.
fn flag(id: &'static str, help: &'static str) -> Arg {
    Arg::new(id).action(ArgAction::SetTrue).help(help)
}

/// Where to, as whom, what and how often.
fn conversation() -> Vec<Arg> {
    vec![
        value("host", "HOST", "Host name or address").short('h').default_value("127.0.0.1"),
        value("port", "PORT", "Port").short('p').default_value("6379").value_parser(value_parser!(u16)),
        value("socket", "PATH", "Unix socket, instead of host and port").short('s'),
        value("uri", "URI", "redis://[USER:PASSWORD@]HOST[:PORT][/DB]").short('u'),
        value("timeout", "SECONDS", "Time to connect in").short('t').value_parser(value_parser!(f64)),
        value("password", "PASSWORD", "Password; REDISCLI_AUTH in the environment is safer")
            .short('a')
            .long("pass"),
        value("user", "NAME", "User, with a password").long("user"),
        flag("no-auth-warning", "No warning about a password on the command line").long("no-auth-warning"),
        value("db", "DB", "Database").short('n').default_value("0").value_parser(value_parser!(u32)),
        flag("resp2", "Speak RESP2").short('2').conflicts_with("resp3"),
        flag("resp3", "Speak RESP3").short('3'),
        value("repeat", "TIMES", "Run the command so often; -1 for ever")
            .short('r')
            .default_value("1")
            .value_parser(value_parser!(i64)),
        value("interval", "SECONDS", "Wait between repetitions, scans and samples")
            .short('i')
            .value_parser(value_parser!(f64)),
        flag("stdin", "Read the last argument from standard input").short('x').conflicts_with("tag"),
        value("tag", "TAG", "Read the argument that is TAG from standard input").short('X'),
        flag("quoted-input", "Arguments are quoted strings").long("quoted-input"),
        flag("cluster", "Follow MOVED and ASK").short('c'),
        flag("errors", "Exit with an error where the command fails").short('e'),
    ]
}

/// How replies are written, and what to do other than run commands.
fn output_and_modes() -> Vec<Arg> {
    vec![
        flag("raw", "Write replies raw (the default where output is no terminal)").long("raw"),
        flag("no-raw", "Write replies for people").long("no-raw"),
        flag("csv", "Write replies as CSV").long("csv"),
        flag("json", "Write replies as JSON; speaks RESP3 unless -2").long("json"),
        flag("quoted-json", "Write replies as JSON of ASCII alone").long("quoted-json"),
        value("bulk-delimiter", "TEXT", "Between elements of a raw reply").short('d').default_value("\n"),
        value("command-delimiter", "TEXT", "After each raw reply").short('D').default_value("\n"),
        value("show-pushes", "yes|no", "Show RESP3 push messages").long("show-pushes"),
        flag("pipe", "Send raw protocol from standard input").long("pipe"),
        value("pipe-timeout", "SECONDS", "Wait for the last reply; 0 for ever")
            .long("pipe-timeout")
            .default_value("30")
            .value_parser(value_parser!(u64)),
        flag("scan", "List keys by SCAN").long("scan"),
        value("pattern", "GLOB", "Keys to list, or to look at").long("pattern"),
        value("quoted-pattern", "GLOB", "The same as a quoted string").long("quoted-pattern"),
        value("count", "N", "COUNT of each SCAN").long("count").value_parser(value_parser!(u64)),
        flag("bigkeys", "Look for keys with many elements").long("bigkeys"),
        flag("memkeys", "Look for keys that take much memory").long("memkeys"),
        value("memkeys-samples", "N", "The same, measuring so many elements of each (0: all)")
            .long("memkeys-samples")
            .value_parser(value_parser!(u64)),
        flag("hotkeys", "Look for keys in much use; maxmemory-policy must be an LFU one").long("hotkeys"),
        flag("stat", "Print figures of the server continually").long("stat"),
        flag("latency", "Measure round trips").long("latency"),
        flag("latency-history", "The same, with a line each interval (15 s)").long("latency-history"),
        Arg::new("help").long("help").action(ArgAction::Help).help("Print this help"),
        flag("version", "Print the version").long("version").short('v'),
    ]
}

/// Reads the words; the first stands for the program's name.
pub fn options(command: Command, words: impl IntoIterator<Item = OsString>) -> Result<Options, Stop> {
    let matches = command.try_get_matches_from(words).map_err(|error| Stop {
        text: error.to_string(),
        exit_code: u8::try_from(error.exit_code()).unwrap_or(2),
    })?;
    if matches.get_flag("version") {
        return Err(Stop { text: version(), exit_code: 0 });
    }
    read(&matches).map_err(|text| Stop { text, exit_code: 2 })
}

fn read(matches: &ArgMatches) -> Result<Options, String> {
    let text = |id: &str| matches.get_one::<String>(id).cloned();
    let uri = match text("uri") {
        Some(uri) => Uri::parse(&uri)?,
        None => Uri::default(),
    };
    let target = match text("socket") {
        Some(path) => Target::Unix(path.into()),
        None => Target::Tcp {
            host: uri.host.unwrap_or(text("host").expect("it has a default")),
            port: uri.port.unwrap_or(*matches.get_one("port").expect("it has a default")),
        },
    };
    let given = text("password").or(uri.password);
    let warn_of_password = given.is_some() && !matches.get_flag("no-auth-warning");
    let output = output(matches);
    let json = matches!(output, Output::Json | Output::QuotedJson);
    let protocol = match () {
        () if matches.get_flag("resp2") => Some(2),
        () if matches.get_flag("resp3") || json => Some(3),
        () => None,
    };
    let command = command_words(matches)?;
    Ok(Options {
        target,
        user: text("user").or(uri.user),
        password: given.or_else(|| std::env::var("REDISCLI_AUTH").ok()),
        db: uri.db.unwrap_or(*matches.get_one("db").expect("it has a default")),
        protocol,
        repeat: *matches.get_one("repeat").expect("it has a default"),
        interval: seconds(matches, "interval")?,
        output,
        bulk_delimiter: text("bulk-delimiter").expect("it has a default").into_bytes(),
        command_delimiter: text("command-delimiter").expect("it has a default").into_bytes(),
        follow_cluster: matches.get_flag("cluster"),
        fail_on_error: matches.get_flag("errors"),
        show_pushes: match text("show-pushes") {
            Some(choice) => matches!(choice.as_bytes().first(), Some(b'y' | b'Y')),
            None => is_terminal(),
        },
        connect_timeout: seconds(matches, "timeout")?,
        warn_of_password,
        mode: mode(matches, command.is_empty())?,
        command,
    })
}

fn output(matches: &ArgMatches) -> Output {
    let named = [
        ("quoted-json", Output::QuotedJson),
        ("json", Output::Json),
        ("csv", Output::Csv),
        ("raw", Output::Raw),
        ("no-raw", Output::Standard),
    ];
    let asked = named.into_iter().find(|(id, _)| matches.get_flag(id)).map(|(_, output)| output);
    asked.unwrap_or(if is_terminal() { Output::Standard } else { Output::Raw })
}

/// Is somebody looking? Tests pretend so with FAKETTY, as those of redis-cli do.
fn is_terminal() -> bool {
    std::io::stdout().is_terminal() || std::env::var_os("FAKETTY").is_some()
}

fn seconds(matches: &ArgMatches, id: &str) -> Result<Option<Duration>, String> {
    let Some(&seconds) = matches.get_one::<f64>(id) else { return Ok(None) };
    let time = Duration::try_from_secs_f64(seconds).map_err(|_| format!("Invalid {id} '{seconds}'"))?;
    Ok((!time.is_zero()).then_some(time))
}

fn mode(matches: &ArgMatches, no_command: bool) -> Result<Mode, String> {
    let quoted = matches.get_one::<String>("quoted-pattern");
    let pattern = match quoted {
        Some(text) => Some(unquote(text.as_bytes())?),
        None => matches.get_one::<String>("pattern").map(|text| text.clone().into_bytes()),
    };
    Ok(match () {
        () if matches.get_flag("pipe") => {
            Mode::Pipe { timeout_s: *matches.get_one("pipe-timeout").expect("it has a default") }
        }
        () if matches.get_flag("scan") => Mode::Scan { pattern, count: matches.get_one("count").copied() },
        () if sought(matches).is_some() => Mode::Sample {
            sought: sought(matches).expect("it was asked for"),
            pattern,
            count: matches.get_one("count").copied(),
        },
        () if matches.get_flag("stat") => Mode::Stat,
        () if matches.get_flag("latency-history") => Mode::Latency { history: true },
        () if matches.get_flag("latency") => Mode::Latency { history: false },
        () if no_command => Mode::Interactive,
        () => Mode::Command,
    })
}

fn sought(matches: &ArgMatches) -> Option<Sought> {
    let samples = matches.get_one("memkeys-samples").copied();
    match () {
        () if matches.get_flag("bigkeys") => Some(Sought::Big),
        () if matches.get_flag("memkeys") || samples.is_some() => Some(Sought::Memory { samples }),
        () if matches.get_flag("hotkeys") => Some(Sought::Hot),
        () => None,
    }
}

/// The command, with what comes from standard input put in its place.
fn command_words(matches: &ArgMatches) -> Result<Vec<Vec<u8>>, String> {
    let words = matches.get_many::<OsString>("command").into_iter().flatten();
    let mut words: Vec<Vec<u8>> = words.map(|word| word.clone().into_vec()).collect();
    if matches.get_flag("quoted-input") {
        words = words.iter().map(|word| unquote(word)).collect::<Result<_, _>>()?;
    }
    let read_stdin = || {
        let mut bytes = Vec::new();
        let read = std::io::stdin().read_to_end(&mut bytes);
        read.map(|_| bytes).map_err(|error| format!("cannot read standard input: {error}"))
    };
    if words.is_empty() {
        return Ok(words);
    }
    if matches.get_flag("stdin") {
        words.push(read_stdin()?);
    }
    if let Some(tag) = matches.get_one::<String>("tag") {
        match words.iter_mut().find(|word| word.as_slice() == tag.as_bytes()) {
            Some(word) => *word = read_stdin()?,
            None => return Err("Using -X option but stdin tag not match.".into()),
        }
    }
    Ok(words)
}

/// Takes a text that is one quoted (or bare) string for the bytes it stands for.
fn unquote(text: &[u8]) -> Result<Vec<u8>, String> {
    match split_words(text).as_deref() {
        Some([word]) => Ok(word.clone()),
        _ => Err(format!("Invalid quoted string specified: {}", String::from_utf8_lossy(text))),
    }
}
