//! The house rules that a compiler does not check: names, walls, sizes, purity, unsafe code.
//! It reads the tree and `cargo metadata`; it knows nothing of what the code does.

#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The top level is fixed; the second line is what tools insist on.
const TOP_LEVEL: [&str; 20] = [
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
    ".ci",
    "docs",
    "src",
    "shards",
    "transports",
    "clients",
    "dashboards",
    "tests",
    "benches", // and
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "clippy.toml",
    ".cargo",
    ".gitignore",
    ".git",
];

/// Who may import whom: crate (without its prefix) and what of ours it may depend on.
const WALLS: [(&str, &[&str]); 7] = [
    ("spec", &[]),
    ("resp", &[]),
    ("store", &[]),
    ("mesh", &[]),
    ("telemetry", &[]),
    ("port", &[]),
    // telemetry: decision 0003.
    ("commands", &["spec", "resp", "store", "telemetry"]),
];
const SHARD_MAY: [&str; 6] = ["commands", "mesh", "telemetry", "spec", "resp", "store"];
const SIM_MAY: [&str; 7] = ["shard", "commands", "mesh", "telemetry", "spec", "resp", "store"];
const STACK_USERS: [&str; 3] = ["dpdk", "afxdp", "efvi"];

const LINES_MAX: usize = 600;
const SAFETY_WITHIN_LINES: usize = 5;

#[test]
fn the_top_level_is_what_the_architecture_lists() {
    let mut strangers = Vec::new();
    for entry in fs::read_dir(root()).expect("the root is a folder") {
        let name = entry.expect("an entry of the root").file_name().to_string_lossy().into_owned();
        if !TOP_LEVEL.contains(&name.as_str()) && name != "target" {
            strangers.push(name);
        }
    }
    assert_none("not in the list of top-level names", strangers);
}

#[test]
fn a_source_file_stays_under_600_lines_and_says_what_it_is() {
    let mut faults = Vec::new();
    for file in sources() {
        let lines = file.text.lines().count();
        if lines >= LINES_MAX {
            faults.push(format!("{}: {lines} lines", file.name));
        }
        if !file.text.starts_with("//!") {
            faults.push(format!("{}: does not open with what it is", file.name));
        }
    }
    assert_none("each file is one idea, said at its top", faults);
}

#[test]
fn crates_import_only_what_the_walls_let_through() {
    let mut faults = Vec::new();
    for (name, dependencies) in our_dependencies() {
        let allowed = allowed_for(&name);
        for dependency in dependencies {
            if allowed.as_ref().is_some_and(|allowed| !allowed.contains(&dependency.as_str())) {
                faults.push(format!("{name} imports {dependency}"));
            }
        }
    }
    assert_none("crate walls", faults);
}

#[test]
fn shards_do_no_input_or_output() {
    let forbidden = ["net", "fs", "thread", "env", "process"];
    let mut faults = Vec::new();
    for file in sources().into_iter().filter(|file| file.is_product() && file.name.starts_with("shards/")) {
        for (number, line) in file.product_lines() {
            let grouped = line.trim_start().starts_with("use std::{");
            let io = forbidden.iter().any(|module| {
                line.contains(&format!("std::{module}::"))
                    || line.contains(&format!("std::{module};"))
                    || (grouped && has_word(&line, module))
            });
            if io || has_word(&line, "SystemTime") || has_word(&line, "Instant") {
                faults.push(format!("{}:{number}: {}", file.name, line.trim()));
            }
        }
    }
    assert_none("shards take the time as an argument and do no input or output", faults);
}

#[test]
fn unsafe_code_lives_where_it_may_and_names_its_promise() {
    let mut faults = Vec::new();
    for file in sources() {
        let lines: Vec<&str> = file.text.lines().collect();
        for (number, line) in file.code_lines() {
            if !has_word(&line, "unsafe") {
                continue;
            }
            if !may_hold_unsafe(&file.name) {
                faults.push(format!("{}:{number}: unsafe code does not live here", file.name));
            }
            let promised = promise_above(&lines[..number]);
            if !promised && !line.contains("unsafe fn") && !line.contains("unsafe extern") {
                faults.push(format!("{}:{number}: no SAFETY note above", file.name));
            }
        }
    }
    assert_none("unsafe code", faults);
}

#[test]
fn every_other_crate_forbids_unsafe_code() {
    let files = sources();
    let mut faults = Vec::new();
    for file in &files {
        let Some(folder) = crate_folder(&file.name) else { continue };
        let crate_has_a_place =
            files.iter().any(|other| other.name.starts_with(&folder) && may_hold_unsafe(&other.name));
        if !crate_has_a_place && !file.text.contains("#![forbid(unsafe_code)]") {
            faults.push(file.name.clone());
        }
    }
    assert_none("no #![forbid(unsafe_code)]", faults);
}

#[test]
fn nothing_is_left_for_later_in_product_code() {
    let macros = [concat!("to", "do!"), concat!("unimple", "mented!"), concat!("d", "bg!")];
    let marks = [concat!("FIX", "ME"), concat!("X", "XX")];
    let mut faults = Vec::new();
    for file in sources() {
        for (number, line) in file.text.lines().enumerate() {
            let found = macros.iter().any(|name| line.contains(name))
                || marks.iter().any(|mark| has_word(line, mark));
            if found {
                faults.push(format!("{}:{}: {}", file.name, number + 1, line.trim()));
            }
        }
    }
    assert_none("unfinished", faults);
}

#[test]
fn decisions_are_numbered_and_titled() {
    let mut faults = Vec::new();
    let mut numbers = BTreeSet::new();
    for file in files_below("docs/decisions", &["md"]) {
        let name = file.name.rsplit('/').next().unwrap_or_default();
        let (number, title) = name.split_once('-').unwrap_or_default();
        if number.len() != 4 || number.parse::<u32>().is_err() || title.len() < 4 {
            faults.push(format!("{name}: not NNNN-title.md"));
        }
        if !numbers.insert(number.to_string()) {
            faults.push(format!("{name}: its number is taken"));
        }
        if !file.text.starts_with("# ") {
            faults.push(format!("{name}: has no title"));
        }
    }
    assert_none("docs/decisions", faults);
}

#[test]
fn the_readme_names_both_commands() {
    let Ok(readme) = fs::read_to_string(root().join("README.md")) else { return };
    let faults = ["cargo run --release", "./tests/run"].iter().filter(|command| !readme.contains(**command));
    assert_none("README.md does not name", faults.map(ToString::to_string).collect());
}

#[test]
fn no_path_of_one_machine_is_written_down() {
    let places = [concat!("/wo", "rk/"), concat!("/ho", "me/"), concat!("/ro", "ot/")];
    let mut faults = Vec::new();
    let mut files = files_below("", &["rs", "md", "toml", "sh", "py", "json", "yml", "txt"]);
    files.extend(["tests/run", ".ci/run"].iter().filter_map(|name| File::read(name)));
    for file in files {
        for (number, line) in file.text.lines().enumerate() {
            if places.iter().any(|place| line.contains(place)) {
                faults.push(format!("{}:{}: {}", file.name, number + 1, line.trim()));
            }
        }
    }
    assert_none("a path of one machine", faults);
}

/// Whether one of the last lines holds a SAFETY note; lines of comment are not counted.
fn promise_above(lines: &[&str]) -> bool {
    let mut code_lines = 0;
    for line in lines.iter().rev() {
        if line.contains("SAFETY") || line.contains("# Safety") {
            return true;
        }
        code_lines += usize::from(!line.trim_start().starts_with("//"));
        if code_lines > SAFETY_WITHIN_LINES {
            return false;
        }
    }
    false
}

fn assert_none(what: &str, faults: Vec<String>) {
    assert!(faults.is_empty(), "{what}:\n  {}", faults.join("\n  "));
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A text file, by its path from the root.
struct File {
    name: String,
    text: String,
}

impl File {
    fn read(name: &str) -> Option<File> {
        Some(File { name: name.into(), text: fs::read_to_string(root().join(name)).ok()? })
    }

    /// Not a test, bench or example of its crate.
    fn is_product(&self) -> bool {
        let of_tests = ["/tests/", "/benches/", "/examples/"].iter().any(|folder| self.name.contains(folder));
        !of_tests && !self.name.ends_with("/tests.rs") && !self.name.starts_with("tests/")
    }

    /// Numbered lines without their comments and what stands between quotes.
    fn code_lines(&self) -> Vec<(usize, String)> {
        let code = |line: &str| {
            let unquoted: String = line.split('"').step_by(2).collect();
            unquoted.split("//").next().unwrap_or_default().to_string()
        };
        self.text.lines().enumerate().map(|(index, line)| (index + 1, code(line))).collect()
    }

    /// Those before the file's own tests, which come last.
    fn product_lines(&self) -> Vec<(usize, String)> {
        let is_test = |line: &str| line.starts_with("#[cfg(") && has_word(line, "test");
        let product = self.text.lines().position(is_test).unwrap_or(usize::MAX);
        self.code_lines().into_iter().filter(|(number, _)| *number <= product).collect()
    }
}

fn sources() -> Vec<File> {
    files_below("", &["rs"])
}

/// Files with one of the endings below a folder, without hidden folders and build output.
fn files_below(folder: &str, endings: &[&str]) -> Vec<File> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.expect("an entry of a folder").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if name != "target" && !name.starts_with('.') && name != "corpus" {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|ending| endings.iter().any(|wanted| ending == *wanted)) {
                let name = path.strip_prefix(root()).expect("below the root").to_string_lossy().into_owned();
                files.extend(File::read(&name));
            }
        }
    }
    files.sort_by(|left, right| left.name.cmp(&right.name));
    files
}

/// The folder of the crate whose root module this file is.
fn crate_folder(name: &str) -> Option<String> {
    let folder = name.strip_suffix("src/lib.rs").or_else(|| name.strip_suffix("src/main.rs"))?;
    Some(format!("{folder}src/"))
}

fn may_hold_unsafe(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or_default();
    name.starts_with("transports/port/src/")
        || name.starts_with("shards/mesh/src/")
        || name.starts_with("shards/store/examples/")
        || name.strip_prefix("shards/store/src/").is_some_and(store_allows)
        || (name.starts_with("transports/") && matches!(file, "sys.rs" | "datapath.rs"))
}

/// The store's root says which of its files hold memory by hand, and by which decision.
fn store_allows(file: &str) -> bool {
    let root = File::read("shards/store/src/lib.rs").expect("the store has a root");
    let module = file.strip_suffix(".rs").unwrap_or(file);
    let lines: Vec<&str> = root.text.lines().collect();
    lines.windows(2).any(|pair| {
        pair[1] == format!("mod {module};")
            && pair[0].starts_with("#[allow(unsafe_code, reason = ")
            && pair[0].contains("decision ")
    })
}

/// `None`: may import everything.
fn allowed_for(name: &str) -> Option<Vec<&'static str>> {
    if let Some((_, allowed)) = WALLS.iter().find(|(leaf, _)| *leaf == name) {
        return Some(allowed.to_vec());
    }
    match name {
        "shard" => Some(SHARD_MAY.to_vec()),
        "sim" => Some(SIM_MAY.to_vec()),
        "corelane" | "house" | "benches" | "fuzz" => None,
        _ if STACK_USERS.contains(&name) => Some(vec!["port", "stack"]),
        _ if root().join("transports").join(name).exists() => Some(vec!["port"]),
        _ => Some(Vec::new()),
    }
}

/// Crates of ours by short name, with those that they import outside tests.
fn our_dependencies() -> BTreeMap<String, Vec<String>> {
    let cargo = std::env::var("CARGO").unwrap_or("cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo runs: it runs this test");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    let packages = metadata["packages"].as_array().expect("metadata lists packages");
    let mut found = BTreeMap::new();
    for package in packages {
        let dependencies = package["dependencies"].as_array().expect("a package lists dependencies");
        let ours = dependencies
            .iter()
            .filter(|dependency| dependency["path"].is_string() && dependency["kind"] != "dev")
            .map(|dependency| short(&dependency["name"]))
            .collect();
        found.insert(short(&package["name"]), ours);
    }
    found
}

fn short(name: &serde_json::Value) -> String {
    let name = name.as_str().expect("a name is a string");
    name.strip_prefix("corelane-").unwrap_or(name).to_string()
}

/// Whether `word` stands alone in the line.
fn has_word(line: &str, word: &str) -> bool {
    let part = |character: char| character.is_alphanumeric() || character == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].chars().next_back().is_some_and(part)
            && !line[at + word.len()..].chars().next().is_some_and(part)
    })
}
