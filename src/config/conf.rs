//! Reading files in the syntax of redis.conf: one directive a line, quotes, comments, `include`.
//! Knows no setting.

use super::layers::Assignment;
use super::{Place, Trouble};
use spec::glob::{glob_match, is_glob};
use spec::setting::split_words;
use std::path::{Path, PathBuf};

/// Files may include files up to this depth: a file that includes itself must end in an error.
const INCLUDE_DEPTH_MAX: usize = 16;

/// Reads a file and all that it includes.
pub(super) fn read(path: &Path) -> Result<Vec<Assignment>, Trouble> {
    let mut assignments = Vec::new();
    read_file(path, 0, &mut assignments)?;
    Ok(assignments)
}

/// Reads text that stands for a file, such as standard input.
pub(super) fn read_text(text: &str, name: &Path) -> Result<Vec<Assignment>, Trouble> {
    let mut assignments = Vec::new();
    read_lines(text, name, 0, &mut assignments)?;
    Ok(assignments)
}

fn read_file(path: &Path, depth: usize, assignments: &mut Vec<Assignment>) -> Result<(), Trouble> {
    let text = read_to_string(path)?;
    read_lines(&text, path, depth, assignments)
}

/// A settings file as text.
pub(super) fn read_to_string(path: &Path) -> Result<String, Trouble> {
    std::fs::read_to_string(path).map_err(|error| {
        Trouble::Refused(format!("cannot read the settings file {}: {error}", path.display()))
    })
}

fn read_lines(
    text: &str,
    path: &Path,
    depth: usize,
    assignments: &mut Vec<Assignment>,
) -> Result<(), Trouble> {
    for (index, line) in text.lines().enumerate() {
        let place = Place::Line(path.to_path_buf(), index + 1);
        let Some((name, words)) = directive(line).map_err(|reason| Trouble::at(&place, reason))? else {
            continue;
        };
        if name != "include" {
            assignments.push(Assignment { name, words, place });
            continue;
        }
        let [pattern] = words.as_slice() else {
            return Err(Trouble::at(&place, "include takes one path"));
        };
        if depth == INCLUDE_DEPTH_MAX {
            let reason = format!("includes are nested more than {INCLUDE_DEPTH_MAX} deep");
            return Err(Trouble::at(&place, reason));
        }
        for file in included(pattern).map_err(|reason| Trouble::at(&place, reason))? {
            read_file(&file, depth + 1, assignments)?;
        }
    }
    Ok(())
}

/// The name and the words of a line; `None` for a comment or an empty line.
pub(super) fn directive(line: &str) -> Result<Option<(String, Vec<String>)>, &'static str> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let words = split_words(line.as_bytes()).ok_or("unbalanced quotes")?;
    let words: Result<Vec<String>, _> = words.into_iter().map(String::from_utf8).collect();
    let mut words = words.map_err(|_| "not valid UTF-8")?.into_iter();
    let Some(name) = words.next() else { return Ok(None) };
    Ok(Some((name.to_ascii_lowercase(), words.collect())))
}

/// The files that an `include` names: one, or those in its directory that match a pattern, by name.
fn included(pattern: &str) -> Result<Vec<PathBuf>, String> {
    let path = Path::new(pattern);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !is_glob(name.as_bytes()) {
        return Ok(vec![path.to_path_buf()]);
    }
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let entries =
        std::fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let matches =
        |entry: &std::fs::DirEntry| glob_match(name.as_bytes(), entry.file_name().as_encoded_bytes(), false);
    let mut files: Vec<PathBuf> = entries.flatten().filter(matches).map(|entry| entry.path()).collect();
    files.sort();
    Ok(files)
}
