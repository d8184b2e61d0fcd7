//! `corelane cli` beside redis-cli, both against Debian's redis-server: what they print and how they end
//! must be equal. Knows nothing of our server; where redis-server is absent, says so and passes.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A redis-server of the test's own, ended with it.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// `None` where redis-server or redis-cli is not installed.
    fn start(settings: &[&str]) -> Option<Server> {
        if Command::new("redis-cli").arg("--version").output().is_err() {
            eprintln!("skipped: redis-cli is not installed");
            return None;
        }
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("loopback").port();
        let child = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--save", "", "--enable-debug-command", "yes"])
            .args(["--dir", "/tmp", "--bind", "127.0.0.1"])
            .args(settings)
            .stdout(Stdio::null())
            .spawn();
        let Ok(child) = child else {
            eprintln!("skipped: redis-server is not installed");
            return None;
        };
        let server = Server { child, port };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(start.elapsed() < Duration::from_secs(20), "redis-server does not come up");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(server)
    }

    fn ours(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_corelane"));
        command.args(["cli", "-p", &self.port.to_string()]);
        command
    }

    fn theirs(&self) -> Command {
        let mut command = Command::new("redis-cli");
        command.args(["-p", &self.port.to_string()]);
        command
    }

    /// Both clients on the same data; what they print must be equal.
    #[track_caller]
    fn compare(&self, arguments: &[&str], input: &[u8]) {
        let [ours, theirs] = [self.ours(), self.theirs()].map(|mut command| {
            self.prepare();
            run(command.args(arguments), input)
        });
        let seen = |output: &Output| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let mut printed = text(&output.stdout);
            let samples = ["--scan", "--bigkeys", "--memkeys", "--memkeys-samples", "--hotkeys"];
            if samples.iter().any(|mode| arguments.contains(mode)) {
                // The order of keys is the server's own affair and changes while its table grows.
                let mut lines: Vec<&str> = printed
                    .lines()
                    .filter(|line| !line.contains("Biggest") || !line.contains("so far"))
                    .collect();
                lines.sort_unstable();
                printed = lines.join("\n");
            }
            (printed, text(&output.stderr), output.status.code())
        };
        assert_eq!(seen(&ours), seen(&theirs), "{arguments:?} (ours, redis-cli's)");
    }

    /// The same small data before every run.
    fn prepare(&self) {
        let set_up = "FLUSHALL\r\nSET a 1\r\nSET b \"2\\n3\"\r\nSET bin \"\\x00\\xff\\\"\\\\\"\r\n\
                      SET text gr\u{fc}n\r\nRPUSH list x y z\r\nHSET hash f v g w\r\nSADD set one\r\n\
                      ZADD zset 1.5 m\r\nXADD stream 1-1 k v\r\nCONFIG RESETSTAT\r\nECHO ready\r\n";
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the server is up");
        stream.write_all(set_up.as_bytes()).expect("the server listens");
        let mut replies = Vec::new();
        while !replies.ends_with(b"ready\r\n") {
            let mut buffer = [0; 512];
            let read = stream.read(&mut buffer).expect("the server answers");
            assert!(read > 0, "the server hung up");
            replies.extend_from_slice(&buffer[..read]);
        }
        assert!(!replies.starts_with(b"-"), "{}", String::from_utf8_lossy(&replies));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(command: &mut Command, input: &[u8]) -> Output {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.env_remove("REDISCLI_AUTH").spawn().expect("the client starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    let input = input.to_vec();
    // A client that does not read its input closes it: not our concern.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("the client ends");
    writer.join().expect("the writer does not panic");
    output
}

/// Commands with replies of every kind.
const COMMANDS: &[&[&str]] = &[
    &["PING"],
    &["GET", "a"],
    &["GET", "b"],
    &["GET", "bin"],
    &["GET", "text"],
    &["GET", "nosuch"],
    &["SET", "k", "-1"],
    &["SET", "k", ""],
    &["INCR", "a"],
    &["INCR", "b"],
    &["nosuch", "command"],
    &["MGET", "a", "b", "nosuch", "bin"],
    &["LRANGE", "list", "0", "-1"],
    &["LRANGE", "nosuch", "0", "-1"],
    &["HGETALL", "hash"],
    &["HGETALL", "nosuch"],
    &["SMEMBERS", "set"],
    &["SMEMBERS", "nosuch"],
    &["ZRANGE", "zset", "0", "-1", "WITHSCORES"],
    &["ZSCORE", "zset", "m"],
    &["XRANGE", "stream", "-", "+"],
    &["XINFO", "STREAM", "stream", "FULL"],
    &["COMMAND", "INFO", "get", "mget", "nosuch"],
    &["COMMAND", "DOCS", "get"],
    &["CONFIG", "GET", "maxmemory*"],
    &["CONFIG", "GET", "save"],
    &["CLUSTER", "INFO"],
    &["INFO", "keyspace"],
    &["SELECT", "1"],
    &["SELECT", "1000"],
    &["MULTI"],
    &["EXEC"],
    &["SCAN", "0", "COUNT", "100", "TYPE", "list"],
    &["DEBUG", "PROTOCOL", "string"],
    &["DEBUG", "PROTOCOL", "integer"],
    &["DEBUG", "PROTOCOL", "double"],
    &["DEBUG", "PROTOCOL", "null"],
    &["DEBUG", "PROTOCOL", "array"],
    &["DEBUG", "PROTOCOL", "set"],
    &["DEBUG", "PROTOCOL", "map"],
    &["DEBUG", "PROTOCOL", "push"],
    &["DEBUG", "PROTOCOL", "verbatim"],
    &["DEBUG", "PROTOCOL", "true"],
    &["DEBUG", "PROTOCOL", "false"],
];

#[test]
fn replies_look_alike_in_every_form() {
    let Some(server) = Server::start(&[]) else { return };
    let forms: [&[&str]; 10] = [
        &[],
        &["--no-raw"],
        &["--raw"],
        &["--csv"],
        &["--json"],
        &["--quoted-json"],
        &["-3"],
        &["-3", "--no-raw"],
        &["-3", "--csv"],
        &["-2", "--json"],
    ];
    for form in forms {
        for command in COMMANDS {
            server.compare(&[form, *command].concat(), b"");
        }
    }
}

#[test]
fn options_act_alike() {
    let Some(server) = Server::start(&[]) else { return };
    let cases: &[(&[&str], &str)] = &[
        (&["-n", "3", "SET", "k", "v"], ""),
        (&["-n", "300", "PING"], ""),
        (&["-r", "3", "INCR", "a"], ""),
        (&["-r", "2", "-i", "0.01", "nosuch"], ""),
        (&["-e", "nosuch"], ""),
        (&["-e", "-r", "2", "nosuch"], ""),
        (&["-e", "PING"], ""),
        (&["-x", "SET", "k"], "from standard input\n"),
        (&["-X", "TAG", "SET", "TAG", "v"], "key"),
        (&["--quoted-input", "SET", "\"a\\x00b\"", "v"], ""),
        (&["-d", ",", "-D", ";", "MGET", "a", "b"], ""),
        (&["-a", "wrong", "PING"], ""),
        (&["--no-auth-warning", "-a", "wrong", "PING"], ""),
        (&["--user", "bob", "--pass", "x", "PING"], ""),
        (&["--show-pushes", "yes", "-3", "--no-raw", "DEBUG", "PROTOCOL", "push"], ""),
        (&["--scan"], ""),
        (&["--scan", "--pattern", "*s*"], ""),
        (&["--no-raw", "--scan", "--pattern", "b*"], ""),
        (&["--scan", "--quoted-pattern", "\"b\\x69n\""], ""),
        (&["--csv", "--scan", "--pattern", "a"], ""),
        (&["--bigkeys"], ""),
        (&["--bigkeys", "-i", "0.001"], ""),
        (&["--bigkeys", "-n", "5"], ""),
        (&["--memkeys", "--pattern", "*s*"], ""),
        (&["--memkeys-samples", "0", "--pattern", "[lhz]*"], ""),
        (&["--hotkeys"], ""),
    ];
    for (arguments, input) in cases {
        server.compare(arguments, input.as_bytes());
    }
    server.compare(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lfu"], b"");
    server.compare(&["--hotkeys"], b"");
    let uri = format!("redis://127.0.0.1:{}/2", server.port);
    server.compare(&["-u", &uri, "CLIENT", "GETNAME"], b"");
    let uri = format!("redis://u:p@127.0.0.1:{}", server.port);
    server.compare(&["-u", &uri, "PING"], b"");
}

#[test]
fn lines_from_a_pipe_run_alike() {
    let Some(server) = Server::start(&[]) else { return };
    let lines: [&str; 8] = [
        "PING\nnosuch\nGET a\n",
        "SET k \"a b\"\nGET k\nSET k \"open\nSELECT 3\nGET k\n3 INCR n\nquit\nPING\n",
        "\n\n  \nGET 'a'\nECHO \"\\x41\\n\"",
        "MULTI\nSET a 5\nGET a\nEXEC\nGET a\n",
        "MULTI\nnosuch\nEXEC\nDISCARD\n",
        "0 PING\n-1 PING\nexit\n",
        "SELECT 1\nRESET\nGET a\n",
        "CONFIG GET maxmemory\nGET a\"b\"\n",
    ];
    for input in lines {
        for form in [&[][..], &["--no-raw"], &["--csv"], &["-3", "--no-raw"]] {
            server.compare(form, input.as_bytes());
        }
    }
}

#[test]
fn mass_insertion_counts_alike() {
    let Some(server) = Server::start(&[]) else { return };
    server.compare(&["--pipe"], b"");
    server.compare(&["--pipe"], b"SET k v\r\nnosuch\r\n*1\r\n$4\r\nPING\r\n");
    server.compare(&["--pipe"], b"SET k v");
    let mut many = Vec::new();
    for number in 0..50_000 {
        many.extend_from_slice(format!("*3\r\n$3\r\nSET\r\n$8\r\nk{number:07}\r\n$1\r\nv\r\n").as_bytes());
    }
    server.compare(&["--pipe"], &many);
    let keys = run(server.ours().arg("DBSIZE"), b"");
    assert_eq!(String::from_utf8_lossy(&keys.stdout), "50009\n");
    // A long bulk and a long list, larger than any buffer.
    let listed =
        [server.ours(), server.theirs()].map(|mut command| run(command.args(["KEYS", "k*"]), b"").stdout);
    assert!(listed[0] == listed[1] && listed[0].len() > 400_000, "KEYS differs");
    let long = vec![b'x'; 3 << 20];
    run(server.ours().args(["-x", "SET", "long"]), &long);
    let read = run(server.ours().args(["GET", "long"]), b"").stdout;
    assert!(read.len() == long.len() + 1 && read.starts_with(&long), "a long value differs");
}

#[test]
fn no_server_is_told_alike() {
    if Command::new("redis-cli").arg("--version").output().is_err() {
        eprintln!("skipped: redis-cli is not installed");
        return;
    }
    let ours = |arguments: &[&str]| {
        run(Command::new(env!("CARGO_BIN_EXE_corelane")).arg("cli").args(arguments), b"")
    };
    let theirs = |arguments: &[&str]| run(Command::new("redis-cli").args(arguments), b"");
    for arguments in [&["-p", "1", "PING"][..], &["-s", "/nonexistent", "PING"], &["-p", "1"]] {
        let (ours, theirs) = (ours(arguments), theirs(arguments));
        assert_eq!(ours.stderr, theirs.stderr, "{arguments:?}");
        assert_eq!(
            (&ours.stdout, ours.status.code()),
            (&theirs.stdout, theirs.status.code()),
            "{arguments:?}"
        );
    }
}

#[test]
fn passwords_are_taken_from_every_place() {
    let Some(server) = Server::start(&["--requirepass", "secret"]) else { return };
    let ping = |command: &mut Command| {
        let output = run(command, b"");
        String::from_utf8_lossy(&output.stdout).trim().to_string()
    };
    assert!(ping(server.ours().arg("PING")).starts_with("NOAUTH"));
    assert_eq!(ping(server.ours().args(["-a", "secret", "PING"])), "PONG");
    assert_eq!(ping(server.ours().args(["-3", "--user", "default", "--pass", "secret", "PING"])), "PONG");
    let uri = format!("redis://default:secret@127.0.0.1:{}", server.port);
    assert_eq!(ping(server.ours().args(["-u", &uri, "PING"])), "PONG");
    let mut command = server.ours();
    let mut child = command
        .arg("PING")
        .env("REDISCLI_AUTH", "secret")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the client starts");
    assert!(child.wait().expect("it ends").success());
}

/// Reads what a client has printed until it holds `wanted`, then ends the client.
fn until(command: &mut Command, wanted: &str) -> String {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the client starts");
    let mut stdout = child.stdout.take().expect("it is piped");
    let (mut text, mut buffer) = (String::new(), [0; 4096]);
    while !text.contains(wanted) {
        let read = stdout.read(&mut buffer).expect("output can be read");
        assert!(read > 0, "the client ended after {text:?}");
        text.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
    let _ = child.kill();
    let _ = child.wait();
    text
}

#[test]
fn subscriptions_and_monitor_stream() {
    let Some(server) = Server::start(&[]) else { return };
    let port = server.port.to_string();
    // Publishes until somebody has heard it.
    let publisher = std::thread::spawn(move || {
        for _ in 0..200 {
            let _ = Command::new("redis-cli").args(["-p", &port, "PUBLISH", "news", "hello"]).output();
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let text = until(server.ours().args(["--no-raw", "SUBSCRIBE", "news", "other"]), "hello");
    let start = "Reading messages... (press Ctrl-C to quit)\n1) \"subscribe\"\n2) \"news\"\n3) (integer) 1\n";
    assert!(text.starts_with(start), "{text}");
    assert!(text.contains("1) \"message\"\n2) \"news\"\n3) \"hello\"\n"), "{text}");
    let text = until(server.ours().args(["-3", "PSUBSCRIBE", "n*"]), "hello");
    assert!(text.starts_with("psubscribe\nn*\n1\npmessage\nn*\nnews\nhello\n"), "{text}");
    let text = until(server.ours().args(["MONITOR"]), "PUBLISH");
    assert!(text.starts_with("OK\n") && text.contains("\"PUBLISH\" \"news\" \"hello\""), "{text}");
    drop(server);
    publisher.join().expect("the publisher does not panic");
}

#[test]
fn figures_and_round_trips_are_printed() {
    let Some(server) = Server::start(&[]) else { return };
    let text = until(server.ours().args(["--stat", "-i", "0.05"]), "(+1)");
    assert!(text.starts_with("------- data ------"), "{text}");
    let output = run(server.ours().args(["--latency", "-i", "0.2", "--csv"]), b"");
    let line = String::from_utf8_lossy(&output.stdout).into_owned();
    let fields: Vec<f64> = line.trim().split(',').map(|field| field.parse().expect("a number")).collect();
    assert!(
        fields.len() == 4 && fields[0] <= fields[2] && fields[2] <= fields[1] && fields[3] >= 2.0,
        "{line}"
    );
}

#[test]
fn redirections_of_a_cluster_are_followed() {
    // A stand-in for two nodes: the first sends everybody to the second.
    let [first, second] = [0, 1].map(|_| TcpListener::bind("127.0.0.1:0").expect("loopback"));
    let [here, there] = [&first, &second].map(|node| node.local_addr().expect("it is bound").port());
    let answer = |node: TcpListener, reply: String| {
        std::thread::spawn(move || {
            let (mut stream, _) = node.accept().expect("the client comes");
            let mut buffer = [0; 1024];
            let read = stream.read(&mut buffer).expect("the client asks");
            stream.write_all(reply.as_bytes()).expect("the client listens");
            let _ = stream.read(&mut [0]);
            String::from_utf8_lossy(&buffer[..read]).into_owned()
        })
    };
    let first = answer(first, format!("-MOVED 15495 127.0.0.1:{there}\r\n"));
    let second = answer(second, "$1\r\n7\r\n".into());
    let mut command = Command::new(env!("CARGO_BIN_EXE_corelane"));
    let output = run(command.args(["cli", "-c", "--no-raw", "-p", &here.to_string(), "GET", "a"]), b"");
    let expected = format!("-> Redirected to slot [15495] located at 127.0.0.1:{there}\n\"7\"\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    let command = "*2\r\n$3\r\nGET\r\n$1\r\na\r\n";
    assert_eq!(
        (first.join().expect("no panic"), second.join().expect("no panic")),
        (command.into(), command.into())
    );
}
