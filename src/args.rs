//! The command line: which subcommand, and the help texts. Knows neither how a server starts nor how a
//! client talks; settings are declared in `config` and only listed here.

use crate::cli;
use crate::config::{SECTIONS, Trouble};
use clap::{Arg, ArgAction, Command};
use spec::setting::{Effect, Setting};
use std::ffi::OsString;
use std::io::Write;

/// What the command line asks for.
pub enum Order {
    /// Serve, with these arguments for `Config::load`.
    Serve(Vec<String>),
    /// Be a client.
    Cli(Box<cli::Options>),
}

/// Why there is nothing to run: help, a version, or a mistake.
#[derive(Debug)]
pub struct Stop {
    /// What to print: on standard output when the exit code is 0, else on standard error.
    pub text: String,
    /// 0 for help and version, 2 for a mistake in usage.
    pub exit_code: u8,
}

impl Stop {
    /// Prints the text where it belongs.
    pub fn print(&self) {
        let text = self.text.trim_end();
        // Whoever has stopped reading (a pager that was left) does not want to hear of it.
        let _ = match self.exit_code {
            0 => writeln!(std::io::stdout(), "{text}"),
            _ => writeln!(std::io::stderr(), "{text}"),
        };
    }
}

/// Reads the words after the program's name. Without a subcommand, they are those of `serve`.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Order, Stop> {
    let mut words = words.into_iter().peekable();
    let first = words.peek().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    match first.as_str() {
        "--help" | "help" => Err(Stop { text: command().render_long_help().to_string(), exit_code: 0 }),
        "--version" | "-v" | "-V" => Err(Stop { text: version(), exit_code: 0 }),
        "cli" => cli::options(cli::command(), words).map(|options| Order::Cli(Box::new(options))),
        "serve" => serve(words.skip(1)),
        _ => serve(words),
    }
}

fn serve(words: impl IntoIterator<Item = OsString>) -> Result<Order, Stop> {
    let mut arguments = Vec::new();
    for word in words {
        let word = word.into_string().map_err(|word| {
            let text = format!("corelane: argument '{}' is not valid UTF-8", word.to_string_lossy());
            Stop { text, exit_code: 2 }
        })?;
        if word == "--help" {
            return Err(Stop { text: serve_command().render_long_help().to_string(), exit_code: 0 });
        }
        arguments.push(word);
    }
    Ok(Order::Serve(arguments))
}

/// A trouble with settings as something to print and exit with.
impl From<Trouble> for Stop {
    fn from(trouble: Trouble) -> Self {
        let hint = match trouble {
            Trouble::Usage(_) => "\nTry 'corelane serve --help'.",
            Trouble::Refused(_) => "",
        };
        Stop { text: format!("corelane: {trouble}{hint}"), exit_code: trouble.exit_code() }
    }
}

/// `corelane 0.1.0`
pub fn version() -> String {
    format!("corelane {}", env!("CARGO_PKG_VERSION"))
}

fn command() -> Command {
    Command::new("corelane")
        .about("A Redis-compatible server in which every core is a server of its own")
        .override_usage("corelane [serve] [FILE] [--SETTING VALUE...]...\n       corelane cli [OPTIONS] [COMMAND [ARG...]]")
        .disable_help_subcommand(true)
        .disable_help_flag(true)
        .arg(Arg::new("help").long("help").action(ArgAction::Help).help("Print this help"))
        .arg(Arg::new("version").long("version").short('v').action(ArgAction::SetTrue).help("Print the version"))
        .subcommand(Command::new("serve").about("Serve (the default); 'corelane serve --help' lists all settings"))
        .subcommand(Command::new("cli").about("Talk to a server; 'corelane cli --help' lists all options"))
        .after_help("Start a server:   corelane --port 6379\nTalk to it:       corelane cli PING")
}

/// The help of `serve`: an argument for every setting. Parsing is `Config::load`'s own, since values
/// of several words, repetition and a leading `-` follow redis.conf rather than getopt.
fn serve_command() -> Command {
    let mut command =
        Command::new("corelane serve")
            .about("Serve. A later layer wins: defaults, FILE, environment (CORELANE_PORT=7000), flags")
            .override_usage("corelane [serve] [FILE] [--SETTING VALUE...]...")
            .disable_help_flag(true)
            .arg(Arg::new("FILE").help(
                "Settings: TOML if it ends in .toml, else the syntax of redis.conf; - for standard input",
            ))
            .arg(Arg::new("help").long("help").action(ArgAction::Help).help("Print this help"))
            .after_help(
                "Bytes take a unit: 1k is 1000, 1kb is 1024, likewise m, mb, g, gb.\n\
             A setting that may be set at any time (CONFIG SET) is marked with *.",
            );
    for section in SECTIONS {
        for setting in section.settings.iter().filter(|setting| !setting.hidden) {
            command = command.arg(
                Arg::new(setting.name)
                    .long(setting.name)
                    .value_name(setting.kind.shape())
                    .help(help(setting))
                    .help_heading(section.title),
            );
        }
    }
    command
}

/// One line on a setting: what it is, its default, whether it acts.
fn help(setting: &Setting) -> String {
    let live = if setting.change == spec::setting::Change::Live { " *" } else { "" };
    let default = if setting.default.is_empty() { "\"\"" } else { setting.default };
    let effect = match setting.effect {
        Effect::Acts => "",
        Effect::AcceptedOnly => "; accepted, no effect yet",
        Effect::DefaultOnly => "; only the default is accepted",
    };
    let alias = setting.alias.map_or(String::new(), |alias| format!("; also --{alias}"));
    format!("{}{live} [default: {default}{alias}{effect}]", setting.help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(words: &[&str]) -> Result<Order, Stop> {
        parse(words.iter().map(OsString::from))
    }

    #[test]
    fn serving_is_the_default() {
        for words in [&["serve", "--port", "7000"][..], &["--port", "7000"]] {
            match order(words) {
                Ok(Order::Serve(arguments)) => assert_eq!(arguments, ["--port", "7000"]),
                _ => panic!("{words:?} is to serve"),
            }
        }
        assert!(matches!(order(&[]), Ok(Order::Serve(arguments)) if arguments.is_empty()));
        assert!(matches!(order(&["cli", "ping"]), Ok(Order::Cli(_))));
    }

    #[test]
    fn help_lists_every_setting_with_its_default() {
        let Err(stop) = order(&["serve", "--help"]) else { panic!("help is to be printed") };
        assert_eq!(stop.exit_code, 0);
        for setting in crate::config::SETTINGS.iter().filter(|setting| !setting.hidden) {
            assert!(stop.text.contains(&format!("--{} ", setting.name)), "{} is missing", setting.name);
        }
        assert!(stop.text.contains("[default: 6379]"));
        let Err(stop) = order(&["--help"]) else { panic!("help is to be printed") };
        assert!(stop.text.contains("serve") && stop.text.contains("cli"));
    }

    #[test]
    fn mistakes_end_with_code_2() {
        let Err(stop) = order(&["cli", "--bogus"]) else { panic!("there is no such option") };
        assert_eq!(stop.exit_code, 2);
    }
}
