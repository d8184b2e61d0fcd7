//! Layers of settings: defaults, file, environment, flags; later ones win. Says where a bad value was
//! written, why it is refused and what would be accepted.

use super::{Place, SETTINGS, Trouble, conf, toml};
use spec::setting::{Effect, Kind, Setting, Settings};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Directives of Redis that are no settings, with the reason why they are refused.
const REFUSED: &[(&str, &str)] = &[
    ("rename-command", "commands cannot be renamed"),
    ("loadmodule", "modules cannot be loaded"),
    ("user", "users cannot be declared in a settings file"),
    ("sentinel", "this is no sentinel"),
];

/// A value as it was written somewhere.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    /// Lower-case name.
    pub(super) name: String,
    /// The value, split as the place splits it.
    pub(super) words: Vec<String>,
    /// Where.
    pub(super) place: Place,
}

/// The settings that a server starts with.
#[derive(Clone, Debug)]
pub struct Config {
    /// Every setting.
    pub settings: Settings,
    /// The file that CONFIG REWRITE writes back.
    pub file: Option<PathBuf>,
    /// What an operator should read in the log, such as a setting given that has no effect.
    pub warnings: Vec<String>,
    /// Settings that somebody gave a value, and where the last one was written.
    given: Vec<(&'static str, Place)>,
}

impl Config {
    /// The defaults.
    pub fn new() -> Self {
        Config { settings: Settings::new(SETTINGS), file: None, warnings: Vec::new(), given: Vec::new() }
    }

    /// Reads all layers. `arguments` are those of `serve`: a file (`-` for standard input), then
    /// `--name value...` as often as wanted. `environment` holds all variables; those that begin with
    /// `CORELANE_` count.
    pub fn load(
        arguments: &[String],
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Config, Trouble> {
        let (file, flags) = split_arguments(arguments)?;
        let mut config = Config::new();
        if let Some(file) = file {
            let assignments = config.read_file(&file)?;
            config.assign_all(assignments)?;
        }
        let assignments = config.read_environment(environment);
        config.assign_all(assignments)?;
        config.assign_all(flags)?;
        config.settle_directory()?;
        config.warn_of_no_effect();
        Ok(config)
    }

    /// Did anybody give this setting a value?
    pub fn was_given(&self, name: &str) -> bool {
        self.given.iter().any(|(given, _)| given.eq_ignore_ascii_case(name))
    }

    fn read_file(&mut self, file: &str) -> Result<Vec<Assignment>, Trouble> {
        if file == "-" {
            let text = std::io::read_to_string(std::io::stdin())
                .map_err(|error| Trouble::Refused(format!("cannot read standard input: {error}")))?;
            return conf::read_text(&text, Path::new("standard input"));
        }
        let path = Path::new(file);
        let assignments = if toml::is_toml(path) { toml::read(path)? } else { conf::read(path)? };
        // The server may change its directory; CONFIG REWRITE must still find the file.
        self.file = Some(path.canonicalize().unwrap_or_else(|_| path.to_path_buf()));
        Ok(assignments)
    }

    fn read_environment(
        &mut self,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Vec<Assignment> {
        let mut assignments = Vec::new();
        for (variable, value) in environment {
            let (Ok(variable), Ok(value)) = (variable.into_string(), value.into_string()) else { continue };
            let Some(rest) = variable.strip_prefix("CORELANE_") else { continue };
            let name = rest.to_ascii_lowercase();
            let named = SETTINGS.iter().flat_map(Setting::names).find(|own| own.replace('-', "_") == name);
            match named {
                // Kubernetes sets CORELANE_PORT=tcp://... for a service that is called corelane.
                Some(_) if value.starts_with("tcp://") => {
                    self.warnings.push(format!("{variable} holds a service address, no setting: not used"));
                }
                Some(name) => assignments.push(Assignment {
                    name: name.into(),
                    words: vec![value],
                    place: Place::Environment(variable),
                }),
                // The client's own variables are none of ours.
                None if is_service_link(rest) || rest.starts_with("CLI_") => {}
                None => self.warnings.push(format!("{variable} names no setting: not used")),
            }
        }
        // The order of the environment means nothing; errors should not depend on it.
        assignments.sort_by(|one, other| one.name.cmp(&other.name));
        assignments
    }

    /// Sets the values of one layer, in order.
    fn assign_all(&mut self, assignments: Vec<Assignment>) -> Result<(), Trouble> {
        let mut layer: Vec<&'static str> = Vec::new();
        for Assignment { name, words, place } in assignments {
            let setting = known(&name, &place)?;
            let words = split_whole(setting, words).map_err(|reason| Trouble::at(&place, reason))?;
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let again = layer.contains(&setting.name);
            self.settings
                .assign(setting.name, &words, again)
                .map_err(|reason| refusal(setting, &name, &words, &place, &reason))?;
            layer.push(setting.name);
            self.given.retain(|(given, _)| *given != setting.name);
            self.given.push((setting.name, place));
        }
        Ok(())
    }

    /// Makes `dir` absolute; it must exist.
    fn settle_directory(&mut self) -> Result<(), Trouble> {
        let directory = self.settings.value("dir").text().to_string();
        let place = self.given.iter().find(|(name, _)| *name == "dir").map(|(_, place)| place.clone());
        let refused = |reason: &str| match &place {
            Some(place) => Trouble::at(place, format!("dir '{directory}': {reason}")),
            None => Trouble::Refused(format!("dir '{directory}': {reason}")),
        };
        let path = Path::new(&directory).canonicalize().map_err(|error| refused(&error.to_string()))?;
        if !path.is_dir() {
            return Err(refused("not a directory"));
        }
        let path = path.to_str().ok_or_else(|| refused("not valid UTF-8"))?;
        self.settings.assign("dir", &[path], false).map_err(|reason| refused(&reason))
    }

    fn warn_of_no_effect(&mut self) {
        for (name, _) in &self.given {
            let setting = self.settings.find(name).expect("given names come from the table");
            let changed = *self.settings.value(name) != setting.default_value();
            if setting.effect == Effect::AcceptedOnly && changed {
                self.warnings.push(format!("{name} is accepted for compatibility and has no effect"));
            }
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Config::new()
    }
}

/// Splits the arguments of `serve` into a file and flags, each flag with its words.
fn split_arguments(arguments: &[String]) -> Result<(Option<String>, Vec<Assignment>), Trouble> {
    let mut arguments = arguments.iter().peekable();
    let is_file = |first: &&String| !first.starts_with("--");
    let file = arguments.next_if(is_file).cloned();
    let mut flags: Vec<Assignment> = Vec::new();
    for argument in arguments {
        match (argument.strip_prefix("--"), flags.last_mut()) {
            (Some(""), _) => return Err(Trouble::Usage("'--' names no setting".into())),
            (Some(flag), _) => {
                let (name, value) = match flag.split_once('=') {
                    Some((name, value)) => (name, vec![value.to_string()]),
                    None => (flag, Vec::new()),
                };
                let name = name.to_ascii_lowercase();
                flags.push(Assignment { name, words: value, place: Place::Flag });
            }
            (None, Some(flag)) => flag.words.push(argument.clone()),
            (None, None) => {
                let reason = format!("unexpected argument '{argument}': only one settings file can be given");
                return Err(Trouble::Usage(reason));
            }
        }
    }
    Ok((file, flags))
}

/// Kubernetes gives every container the addresses of services, in names like these.
fn is_service_link(rest: &str) -> bool {
    rest.starts_with("SERVICE_") || rest.starts_with("PORT_")
}

/// Values of several words may come as one: `--save "60 1"`, `CORELANE_BIND="127.0.0.1 ::1"`.
fn split_whole(setting: &Setting, words: Vec<String>) -> Result<Vec<String>, &'static str> {
    if !setting.kind.takes_words() || words.iter().all(|word| !word.contains(char::is_whitespace)) {
        return Ok(words);
    }
    let mut split = Vec::with_capacity(words.len());
    for word in words {
        for part in spec::setting::split_words(word.as_bytes()).ok_or("unbalanced quotes")? {
            split.push(String::from_utf8(part).map_err(|_| "not valid UTF-8")?);
        }
    }
    Ok(split)
}

fn known(name: &str, place: &Place) -> Result<&'static Setting, Trouble> {
    if let Some(setting) = SETTINGS.iter().find(|setting| setting.names().any(|own| own == name)) {
        return Ok(setting);
    }
    if let Some((_, reason)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
        return Err(Trouble::at(place, format!("{name}: {reason}")));
    }
    let hint = closest(name).map_or(String::new(), |close| format!(" (did you mean '{close}'?)"));
    match place {
        Place::Flag => Err(Trouble::Usage(format!("unknown setting '--{name}'{hint}"))),
        place => Err(Trouble::at(place, format!("unknown setting '{name}'{hint}"))),
    }
}

fn refusal(setting: &Setting, name: &str, words: &[&str], place: &Place, reason: &str) -> Trouble {
    let shown = match words {
        _ if setting.sensitive => String::new(),
        [] => " without a value".into(),
        words => format!(" '{}'", words.join(" ")),
    };
    let accepted = match setting.kind {
        // The reason names them, or the shape says nothing.
        _ if setting.effect == Effect::DefaultOnly => String::new(),
        Kind::Choice(_) | Kind::Choices(_) | Kind::Words { .. } | Kind::Text => String::new(),
        kind => format!("; accepted: {}", kind.shape()),
    };
    Trouble::at(place, format!("{name}{shown}: {reason}{accepted}"))
}

/// The name that is spelt most alike, if any is near.
fn closest(name: &str) -> Option<&'static str> {
    let near = name.len().div_ceil(4).max(2);
    let distances = SETTINGS.iter().flat_map(Setting::names).map(|own| (edits(name, own), own));
    distances.filter(|(distance, _)| *distance <= near).min().map(|(_, own)| own)
}

/// Edit distance: insertions, deletions and replacements (Wagner and Fischer, 1974, one row kept).
fn edits(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, left) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, right) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(left != *right);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}
