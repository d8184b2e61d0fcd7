//! The table, the layers and what they say of bad values.

use super::*;
use spec::setting::{Live, Settings};
use std::ffi::OsString;
use std::path::PathBuf;

/// A file that goes away with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("corelane-config-{}-{name}", std::process::id()));
        std::fs::write(&path, text).expect("the temporary directory can be written");
        Scratch(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("a path of ASCII")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn load(arguments: &[&str], environment: &[(&str, &str)]) -> Result<Config, Trouble> {
    let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    Config::load(
        &arguments,
        environment.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))),
    )
}

#[track_caller]
fn shown(config: &Config, name: &str) -> String {
    config.settings.get(&[name.as_bytes()])[0].1.clone()
}

#[track_caller]
fn refused(arguments: &[&str], expected: &str, code: u8) {
    let trouble = load(arguments, &[]).expect_err("these arguments are to be refused");
    assert_eq!((trouble.to_string().as_str(), trouble.exit_code()), (expected, code));
}

#[test]
fn defaults_are_those_of_the_data_path() {
    assert_eq!(Settings::new(SETTINGS).live, Live::default());
}

#[test]
fn every_default_reads_back_as_it_is_shown() {
    let mut settings = Settings::new(SETTINGS);
    for setting in SETTINGS {
        let printed = setting.kind.print(settings.value(setting.name));
        let again = setting.read(&printed, settings.value(setting.name));
        assert_eq!(again.as_ref(), Ok(settings.value(setting.name)), "{}", setting.name);
        assert_eq!(setting.name, setting.name.to_ascii_lowercase());
        assert!(!setting.help.is_empty() && setting.help.len() < 100, "{}", setting.name);
    }
    // What CONFIG GET shows can be written back, as suites and tools do.
    let pairs = settings.get(&[b"*"]);
    assert!(pairs.len() > 200);
    for (name, value) in pairs {
        let fixed = settings.find(&name).is_some_and(|setting| {
            matches!(setting.change, spec::setting::Change::Start | spec::setting::Change::Protected)
        });
        if !fixed {
            let written = settings.set(&[(name.as_bytes(), value.as_bytes())], false);
            written.unwrap_or_else(|refusal| panic!("{refusal}"));
        }
    }
}

#[test]
fn later_layers_win() {
    let file = Scratch::new(
        "layers.conf",
        "# a comment\nport 7001\nmaxmemory 1gb\nsave 900 1\nsave 60 5\nbind 127.0.0.1 \"::1\"\ntimeout 5\n",
    );
    let config = load(
        &[file.path(), "--port", "7003", "--save", "", "--bind", "127.0.0.1", "-::1", "--save", "60", "1"],
        &[("CORELANE_PORT", "7002"), ("CORELANE_MAXMEMORY", "2gb"), ("OTHER", "x")],
    )
    .expect("these are fine");
    let expected = [("port", "7003"), ("maxmemory", "2147483648"), ("save", "60 1"), ("timeout", "5")];
    for (name, value) in expected {
        assert_eq!(shown(&config, name), value);
    }
    assert_eq!(shown(&config, "bind"), "127.0.0.1 -::1");
    assert!(config.was_given("port") && !config.was_given("control-port"));
    assert_eq!(config.file, Some(file.0.canonicalize().expect("it exists")));
    assert!(shown(&config, "dir").starts_with('/'));
}

#[test]
fn toml_is_read_with_its_own_types() {
    let file = Scratch::new(
        "types.toml",
        "port = 7001\nprotected-mode = false\nbind = [\"127.0.0.1\", \"::1\"]\nsave = [\"900 1\", \"60 5\"]\n\
         maxmemory = \"1gb\"\nlatency-tracking-info-percentiles = [50, 99.9]\nunixsocketperm = \"700\"\n",
    );
    let config = load(&[file.path()], &[]).expect("this is fine");
    let expected = [
        ("port", "7001"),
        ("protected-mode", "no"),
        ("bind", "127.0.0.1 ::1"),
        ("save", "900 1 60 5"),
        ("maxmemory", "1073741824"),
        ("latency-tracking-info-percentiles", "50 99.9"),
        ("unixsocketperm", "700"),
    ];
    for (name, value) in expected {
        assert_eq!(shown(&config, name), value);
    }
}

#[test]
fn includes_are_followed_to_a_bounded_depth() {
    let inner = Scratch::new("inner.conf", "timeout 9\n");
    let outer = Scratch::new("outer.conf", &format!("timeout 1\ninclude {}\n", inner.path()));
    assert_eq!(shown(&load(&[outer.path()], &[]).expect("this is fine"), "timeout"), "9");
    let own = Scratch::new("own.conf", "");
    std::fs::write(&own.0, format!("include {}\n", own.path())).expect("it can be written");
    refused(&[own.path()], &format!("{}:1: includes are nested more than 16 deep", own.path()), 1);
}

#[test]
fn bad_values_are_refused_with_place_reason_and_what_is_accepted() {
    let file = Scratch::new("bad.conf", "port 1\n\nmaxmemory much\n");
    let reason = "maxmemory 'much': argument must be a memory value; accepted: BYTES";
    refused(&[file.path()], &format!("{}:3: {reason}", file.path()), 1);
    let file = Scratch::new("bad.toml", "port = 1\n\npol = \"busy\"\n");
    refused(&[file.path()], &format!("{}:3: unknown setting 'pol' (did you mean 'poll'?)", file.path()), 1);
    let file = Scratch::new("syntax.toml", "port = 1\nbind = [\n");
    let text = load(&[file.path()], &[]).expect_err("no TOML").to_string();
    assert!(text.starts_with(&format!("{}:2: ", file.path())), "{text}");
    refused(
        &["--poll", "never"],
        "command line: poll 'never': argument(s) must be one of the following: busy, adaptive, sleep",
        1,
    );
    refused(&["--prot", "1"], "unknown setting '--prot' (did you mean 'port'?)", 2);
    refused(
        &["--port"],
        "command line: port without a value: wrong number of arguments; accepted: 0..65535",
        1,
    );
    refused(&["a.conf", "b.conf"], "unexpected argument 'b.conf': only one settings file can be given", 2);
    refused(&["--tls-port", "1"], "command line: tls-port '1': not supported: only 0 is accepted", 1);
    refused(&["--rename-command", "a", "b"], "command line: rename-command: commands cannot be renamed", 1);
    refused(
        &["--bind", "nowhere"],
        "command line: bind 'nowhere': 'nowhere' is no IP address (nor *, ::* or localhost)",
        1,
    );
    let trouble = load(&["/nonexistent.conf"], &[]).expect_err("no file");
    assert!(
        trouble.to_string().starts_with("cannot read the settings file /nonexistent.conf: "),
        "{trouble}"
    );
    let trouble = load(&["--dir", "/nonexistent"], &[]).expect_err("no directory");
    assert!(trouble.to_string().starts_with("command line: dir '/nonexistent': No such file"), "{trouble}");
    let file = Scratch::new("dir.conf", "port 1\ndir /nonexistent\n");
    let text = load(&[file.path()], &[]).expect_err("no directory").to_string();
    assert!(text.starts_with(&format!("{}:2: dir '/nonexistent': ", file.path())), "{text}");
    let reason = "databases '16385': argument must be between 1 and 16384 inclusive; accepted: 1..16384";
    refused(&["--databases", "16385"], &format!("command line: {reason}"), 1);
}

#[test]
fn secrets_are_not_shown_in_refusals() {
    refused(&["--requirepass", "secret", "more"], "command line: requirepass: wrong number of arguments", 1);
}

#[test]
fn kubernetes_service_links_do_no_harm() {
    let environment = [
        ("CORELANE_PORT", "tcp://10.0.0.1:6379"),
        ("CORELANE_PORT_6379_TCP", "tcp://10.0.0.1:6379"),
        ("CORELANE_SERVICE_HOST", "10.0.0.1"),
        ("CORELANE_CLI_HISTORY", "x"),
        ("CORELANE_POOL", "busy"),
    ];
    let config = load(&[], &environment).expect("nothing is wrong");
    assert_eq!(shown(&config, "port"), "6379");
    assert_eq!(config.warnings.len(), 2);
}

#[test]
fn a_setting_without_effect_is_said_so() {
    let config = load(&["--appendonly", "yes", "--io-threads=1"], &[]).expect("these are accepted");
    assert_eq!(config.warnings, ["appendonly is accepted for compatibility and has no effect"]);
}

#[test]
fn cpu_lists_and_addresses_are_read() {
    assert_eq!(cpus::list("0-3,8"), Some(vec![0, 1, 2, 3, 8]));
    assert_eq!(cpus::list("4,0-6:2"), Some(vec![4, 0, 2, 6]));
    assert_eq!(cpus::list(""), Some(vec![]));
    for bad in ["3-1", "a", "1-", "0-4:0", "9999"] {
        assert_eq!(cpus::list(bad), None, "{bad}");
    }
    let bind = |word| addresses::Bind::parse(word).map(|bind| (bind.address.to_string(), bind.optional));
    assert_eq!(bind("-::1"), Some(("::1".into(), true)));
    assert_eq!(bind("*"), Some(("0.0.0.0".into(), false)));
    assert_eq!(bind("-::*"), Some(("::".into(), true)));
    assert_eq!(bind("300.0.0.1"), None);
}

#[test]
fn a_rewritten_file_is_replaced_whole_with_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let file = Scratch::new("rewrite.conf", "# mine\nport 7001\n");
    std::fs::set_permissions(&file.0, std::fs::Permissions::from_mode(0o640)).expect("it is ours");
    let link = file.0.with_extension("link");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(&file.0, &link).expect("the temporary directory can be written");
    let mut config =
        load(&[link.to_str().expect("a path of ASCII"), "--timeout", "7"], &[]).expect("this is fine");
    config.settings.set(&[(b"maxmemory", b"1gb")], false).expect("this is fine");
    rewrite(config.file.as_ref().expect("it was given"), &config.settings).expect("it can be written");
    let text = std::fs::read_to_string(&file.0).expect("it can be read");
    let directory = shown(&config, "dir");
    // In the order of the table.
    let expected = format!(
        "# mine\nport 7001\n# Generated by CONFIG REWRITE\ntimeout 7\nmaxmemory 1073741824\ndir {directory}\n"
    );
    assert_eq!(text, expected);
    assert_eq!(std::fs::metadata(&file.0).expect("it exists").permissions().mode() & 0o777, 0o640);
    assert!(std::fs::symlink_metadata(&link).expect("it exists").is_symlink());
    let again = load(&[file.path()], &[]).expect("what was written can be read");
    assert_eq!(again.settings.get(&[b"*"]), config.settings.get(&[b"*"]));
    let _ = std::fs::remove_file(&link);
    assert!(rewrite(std::path::Path::new("/nonexistent/x.conf"), &config.settings).is_err());
}
