//! What a server says of its commands (COMMAND DOCS), for help, completion and hints. Nothing is known
//! of commands but what it says.

use super::session::Session;
use resp::client::Value;
use spec::setting::split_words;
use std::fmt::Write;

/// The documents of all commands and subcommands, by name.
#[derive(Default, Debug)]
pub(super) struct Documents {
    documents: Vec<Document>,
}

#[derive(Debug)]
struct Document {
    /// In capitals, a subcommand behind its container: `CONFIG GET`.
    name: String,
    summary: String,
    since: String,
    group: String,
    /// Each top-level argument as it is to be typed.
    arguments: Vec<String>,
}

impl Documents {
    /// Asks the server; empty where it does not know the command.
    pub(super) fn load(session: &mut Session) -> Documents {
        match session.ask(&["COMMAND", "DOCS"]) {
            Ok(reply) => Documents::read(&reply),
            Err(_) => Documents::default(),
        }
    }

    fn read(reply: &Value) -> Documents {
        let mut documents = Vec::new();
        for (name, fields) in pairs(reply) {
            read_document(&text(name).to_ascii_uppercase(), fields, &mut documents);
        }
        documents.sort_by(|one, other| one.name.cmp(&other.name));
        Documents { documents }
    }

    /// Nothing is known.
    pub(super) fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// What the line may become. Names keep the case that was typed.
    pub(super) fn completions(&self, line: &str) -> Vec<String> {
        let (topic, typed) = match line.get(..5) {
            Some(start) if start.eq_ignore_ascii_case("help ") => line.split_at(5),
            _ => ("", line),
        };
        if typed.is_empty() && topic.is_empty() {
            return Vec::new();
        }
        let lower = typed.chars().any(|letter| letter.is_ascii_lowercase()) || typed.is_empty();
        let mut names: Vec<String> = if topic.is_empty() { Vec::new() } else { self.groups() };
        names.extend(self.documents.iter().map(|document| document.name.clone()));
        names.retain(|name| {
            name.len() > typed.len() && name.as_bytes()[..typed.len()].eq_ignore_ascii_case(typed.as_bytes())
        });
        let cased = |name: String| if lower { name.to_ascii_lowercase() } else { name };
        names.into_iter().map(|name| format!("{topic}{}", cased(name))).collect()
    }

    /// The arguments still to be typed behind a line.
    pub(super) fn hint(&self, line: &str) -> Option<String> {
        let words = split_words(line.as_bytes())?;
        let ends_in_space = line.ends_with(char::is_whitespace);
        let (document, named) = self.longest(&words)?;
        let typed = words.len() - named;
        // While a word is being typed, it is no argument yet, and a name may still grow.
        let complete = if ends_in_space { typed } else { typed.saturating_sub(1) };
        let mut left = &document.arguments[..];
        for _ in 0..complete.max(typed.min(complete)) {
            match left.first() {
                Some(argument) if !argument.starts_with('[') => left = &left[1..],
                _ => break,
            }
        }
        if typed > complete && left.first().is_some_and(|argument| !argument.starts_with('[')) {
            left = &left[1..];
        }
        let space = if ends_in_space { "" } else { " " };
        (!left.is_empty()).then(|| format!("{space}{}", left.join(" ")))
    }

    /// The document with the longest name that the words begin with, and how many words that is.
    fn longest(&self, words: &[Vec<u8>]) -> Option<(&Document, usize)> {
        (1..=words.len().min(2)).rev().find_map(|count| {
            let name = words[..count].join(&b' ');
            let name = String::from_utf8(name).ok()?.to_ascii_uppercase();
            let index = self.documents.binary_search_by(|document| document.name.cmp(&name)).ok()?;
            Some((&self.documents[index], count))
        })
    }

    /// The help on a command, on all of a container's, or on a group (`@string`).
    pub(super) fn help(&self, topic: &str) -> String {
        let topic = topic.to_ascii_uppercase();
        let inside = format!("{topic} ");
        let wanted = |document: &&Document| match topic.strip_prefix('@') {
            Some(group) => document.group.eq_ignore_ascii_case(group),
            None => document.name == topic || document.name.starts_with(&inside),
        };
        let mut help = String::new();
        for document in self.documents.iter().filter(wanted) {
            let Document { name, summary, since, group, arguments } = document;
            let written = write!(
                help,
                "\n  {name} {}\n  summary: {summary}\n  since: {since}\n  group: {group}\n",
                arguments.join(" ")
            );
            written.expect("writing to a String cannot fail");
        }
        help.push('\n');
        help
    }

    fn groups(&self) -> Vec<String> {
        let mut groups: Vec<String> =
            self.documents.iter().map(|document| format!("@{}", document.group)).collect();
        groups.sort();
        groups.dedup();
        groups
    }
}

/// Reads a command and its subcommands.
fn read_document(name: &str, fields: &Value, documents: &mut Vec<Document>) {
    let field = |wanted: &str| pairs(fields).find(|(key, _)| text(key) == wanted).map(|(_, value)| value);
    let said = |wanted: &str| field(wanted).map(text).unwrap_or_default();
    let arguments = field("arguments").map(|arguments| items(arguments).iter().map(argument).collect());
    documents.push(Document {
        name: name.to_string(),
        summary: said("summary"),
        since: said("since"),
        group: said("group"),
        arguments: arguments.unwrap_or_default(),
    });
    for (inner, fields) in field("subcommands").into_iter().flat_map(pairs) {
        let inner = text(inner).to_ascii_uppercase();
        let inner = inner.split('|').next_back().unwrap_or_default();
        read_document(&format!("{name} {inner}"), fields, documents);
    }
}

/// An argument as it is to be typed: `key`, `[EX seconds|PX milliseconds]`, `field value [field value ...]`.
fn argument(argument: &Value) -> String {
    let field = |wanted: &str| pairs(argument).find(|(key, _)| text(key) == wanted).map(|(_, value)| value);
    let said = |wanted: &str| field(wanted).map(text);
    let flags: Vec<String> =
        field("flags").map(|flags| items(flags).iter().map(text).collect()).unwrap_or_default();
    let flagged = |wanted: &str| flags.iter().any(|flag| flag == wanted);
    let parts = || field("arguments").map(items).unwrap_or_default().iter().map(self::argument);
    let optional = flagged("optional");
    let token = said("token").map(|token| if token.is_empty() { "\"\"".to_string() } else { token });
    let kind = said("type").unwrap_or_default();
    let value = match kind.as_str() {
        "pure-token" => None,
        "block" => Some(parts().collect::<Vec<_>>().join(" ")),
        "oneof" => {
            let choices = parts().collect::<Vec<_>>().join("|");
            Some(if optional && token.is_none() { choices } else { format!("<{choices}>") })
        }
        _ => said("display_text").or_else(|| said("name")),
    };
    let mut shown = match (&token, &value) {
        (Some(token), Some(value)) => format!("{token} {value}"),
        (Some(one), None) | (None, Some(one)) => one.clone(),
        (None, None) => String::new(),
    };
    if flagged("multiple") || flagged("multiple_token") {
        let again =
            if flagged("multiple_token") { shown.clone() } else { value.unwrap_or_else(|| shown.clone()) };
        shown = format!("{shown} [{again} ...]");
    }
    if optional { format!("[{shown}]") } else { shown }
}

/// Keys and values of a map, or of the flat array that RESP2 has for one.
fn pairs(value: &Value) -> Box<dyn Iterator<Item = (&Value, &Value)> + '_> {
    match value {
        Value::Map(pairs) => Box::new(pairs.iter().map(|(key, value)| (key, value))),
        Value::Array(items) => Box::new(items.chunks_exact(2).map(|pair| (&pair[0], &pair[1]))),
        _ => Box::new(std::iter::empty()),
    }
}

fn items(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) | Value::Set(items) => items,
        _ => &[],
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Simple(text) => text.clone(),
        Value::Bulk(bytes) | Value::Verbatim(_, bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bulk(text: &str) -> Value {
        Value::Bulk(text.into())
    }

    fn map(pairs: Vec<(&str, Value)>) -> Value {
        Value::Map(pairs.into_iter().map(|(key, value)| (bulk(key), value)).collect())
    }

    fn flags(names: &[&str]) -> Value {
        Value::Set(names.iter().map(|name| Value::Simple(name.to_string())).collect())
    }

    /// SET and CONFIG GET as a server documents them, SET as a flat array of RESP2.
    fn documents() -> Documents {
        let token =
            |name: &str| map(vec![("name", bulk("x")), ("type", bulk("pure-token")), ("token", bulk(name))]);
        let word = |name: &str| map(vec![("name", bulk(name)), ("type", bulk("string"))]);
        let seconds = map(vec![("name", bulk("seconds")), ("type", bulk("integer")), ("token", bulk("EX"))]);
        let condition = map(vec![
            ("type", bulk("oneof")),
            ("flags", flags(&["optional"])),
            ("arguments", Value::Array(vec![token("NX"), token("XX"), seconds])),
        ]);
        let arguments = Value::Array(vec![word("key"), word("value"), condition]);
        let set = vec![
            bulk("summary"),
            bulk("Sets a key."),
            bulk("since"),
            bulk("1.0.0"),
            bulk("group"),
            bulk("string"),
            bulk("arguments"),
            arguments,
        ];
        let parameter =
            map(vec![("name", bulk("parameter")), ("type", bulk("string")), ("flags", flags(&["multiple"]))]);
        let get = map(vec![("summary", bulk("Reads.")), ("arguments", Value::Array(vec![parameter]))]);
        let config = map(vec![("group", bulk("server")), ("subcommands", map(vec![("config|get", get)]))]);
        Documents::read(&map(vec![("set", Value::Array(set)), ("config", config)]))
    }

    #[test]
    fn hints_shrink_with_what_is_typed() {
        let documents = documents();
        let hint = |line: &str| documents.hint(line).unwrap_or_default();
        assert_eq!(hint("set"), " key value [NX|XX|EX seconds]");
        assert_eq!(hint("SET "), "key value [NX|XX|EX seconds]");
        assert_eq!(hint("set a"), " value [NX|XX|EX seconds]");
        assert_eq!(hint("set a "), "value [NX|XX|EX seconds]");
        assert_eq!(hint("set a b NX "), "[NX|XX|EX seconds]");
        assert_eq!(hint("config get"), " parameter [parameter ...]");
        assert_eq!(hint("nosuch"), "");
        assert_eq!(hint("set \"open"), "");
    }

    #[test]
    fn completion_keeps_the_case_that_was_typed() {
        let documents = documents();
        assert_eq!(documents.completions("se"), ["set"]);
        assert_eq!(documents.completions("CONFIG"), ["CONFIG GET"]);
        assert_eq!(documents.completions("help @s"), ["help @server", "help @string"]);
        assert!(documents.completions("").is_empty());
    }

    #[test]
    fn help_speaks_of_commands_containers_and_groups() {
        let documents = documents();
        let set = "\n  SET key value [NX|XX|EX seconds]\n  summary: Sets a key.\n  since: 1.0.0\n  group: string\n\n";
        assert_eq!(documents.help("set"), set);
        assert_eq!(documents.help("@string"), set);
        assert!(documents.help("config").contains("CONFIG GET parameter [parameter ...]"));
        assert_eq!(documents.help("nosuch"), "\n");
    }
}
