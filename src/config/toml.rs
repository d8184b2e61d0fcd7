//! Reading settings from TOML: one key a setting, with TOML's own booleans, numbers and arrays.
//! Knows no setting.

use super::layers::Assignment;
use super::{Place, Trouble, conf};
use std::path::Path;
use toml_edit::{Document, Item, Value};

/// Is this file written in TOML?
pub(super) fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

/// Reads a file.
pub(super) fn read(path: &Path) -> Result<Vec<Assignment>, Trouble> {
    let text = conf::read_to_string(path)?;
    let place = |offset: usize| {
        let line =
            1 + text.as_bytes()[..offset.min(text.len())].iter().filter(|&&byte| byte == b'\n').count();
        Place::Line(path.to_path_buf(), line)
    };
    let document = Document::parse(text.as_str()).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        Trouble::at(&place(offset), error.message().trim())
    })?;
    let mut assignments = Vec::new();
    for (name, item) in document.iter() {
        let offset =
            document.key(name).and_then(|key| key.span()).or(item.span()).map_or(0, |span| span.start);
        let place = place(offset);
        let words = words(item).map_err(|reason| Trouble::at(&place, format!("{name}: {reason}")))?;
        assignments.push(Assignment { name: name.to_ascii_lowercase(), words, place });
    }
    // Keys come in the order of the file, but dotted and tabled ones may not: the line decides.
    assignments.sort_by_key(|assignment| match assignment.place {
        Place::Line(_, line) => line,
        _ => 0,
    });
    Ok(assignments)
}

fn words(item: &Item) -> Result<Vec<String>, &'static str> {
    match item {
        Item::Value(value) => words_of(value),
        _ => Err("tables are not used: every setting stands at the top level"),
    }
}

/// The words that a TOML value stands for, as redis.conf would have them. No element at all is the
/// empty word, which says "none".
pub(super) fn words_of(value: &Value) -> Result<Vec<String>, &'static str> {
    match value {
        Value::Array(array) if array.is_empty() => Ok(vec![String::new()]),
        Value::Array(array) => array.iter().map(word).collect(),
        value => Ok(vec![word(value)?]),
    }
}

fn word(value: &Value) -> Result<String, &'static str> {
    match value {
        Value::String(text) => Ok(text.value().clone()),
        Value::Integer(number) => Ok(number.value().to_string()),
        Value::Float(number) => Ok(number.value().to_string()),
        Value::Boolean(flag) => Ok(if *flag.value() { "yes" } else { "no" }.into()),
        _ => Err("a setting is a text, a number, true or false, or an array of these"),
    }
}
