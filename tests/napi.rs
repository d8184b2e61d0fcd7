//! Busy polling of a network device that has NAPI: a veth pair between two network namespaces of the test's
//! own, and the kernel's count of packets that were received that way. Needs root, `ip` and `ethtool`;
//! else says so and passes. Loopback has no NAPI: there the settings are set and do nothing.
#![forbid(unsafe_code)]

#[allow(dead_code, unused_imports, reason = "each test file uses its own part")]
mod support;

use std::process::{Child, Command, Stdio};
use support::{binary, drivers, until};

/// Rounds of a request and its reply over the pair.
const REQUESTS: usize = 5000;
/// How often they are made before it is believed that nothing is polled for.
const ROUNDS_MAX: usize = 20;
const HERE: &str = "10.77.77.1";

/// Two network namespaces, joined; removed with the test.
struct Pair {
    here: String,
    there: String,
}

/// Runs a program to its end; what it printed, or why it could not.
fn run(words: &[&str]) -> Result<String, String> {
    let output = Command::new(words[0]).args(&words[1..]).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{}: {error}", words[0]))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

impl Pair {
    fn new() -> Result<Pair, String> {
        if !rustix::process::getuid().is_root() {
            return Err("not root".to_owned());
        }
        run(&["ethtool", "--version"])?;
        let own = std::process::id();
        let pair = Pair { here: format!("corelane-{own}-a"), there: format!("corelane-{own}-b") };
        for space in [&pair.here, &pair.there] {
            run(&["ip", "netns", "add", space])?;
        }
        let (here, there) = (&pair.here[..], &pair.there[..]);
        run(&[
            "ip", "link", "add", "veth0", "netns", here, "type", "veth", "peer", "name", "veth0", "netns",
            there,
        ])?;
        for (space, address) in [(here, "10.77.77.1/24"), (there, "10.77.77.2/24")] {
            run(&["ip", "-n", space, "addr", "add", address, "dev", "veth0"])?;
            run(&["ip", "-n", space, "link", "set", "veth0", "up"])?;
            // With GRO, packets of a veth go through NAPI; segments that were put together before do not.
            let options = ["gro", "on", "tso", "off", "gso", "off"];
            let command = ["ip", "netns", "exec", space, "ethtool", "-K", "veth0"];
            run(&[&command[..], &options].concat())?;
        }
        Ok(pair)
    }

    /// Packets that came by busy polling since the pair was made.
    fn polled(&self) -> u64 {
        let text = run(&["ip", "netns", "exec", &self.here, "cat", "/proc/net/netstat"]).expect("it stands");
        let mut lines = text.lines().filter_map(|line| line.strip_prefix("TcpExt: "));
        let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
        let named = names.split(' ').zip(values.split(' ')).find(|(name, _)| *name == "BusyPollRxPackets");
        named.map_or(0, |(_, value)| value.parse().expect("a count"))
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for space in [&self.here, &self.there] {
            let _ = run(&["ip", "netns", "del", space]);
        }
    }
}

/// A server at one end of the pair; killed with the test.
struct Served(Child);

impl Served {
    fn start(pair: &Pair, flags: &[&str], log: &std::path::Path) -> Served {
        let file = std::fs::File::create(log).expect("the temporary folder is writable");
        let child = Command::new("ip")
            .args(["netns", "exec", &pair.here, binary(), "--port", "7000", "--bind", HERE, "--shards", "1"])
            .args(["--protected-mode", "no", "--control-port", "0"])
            .args(flags)
            .stdin(Stdio::null())
            .stdout(file)
            .spawn()
            .expect("ip is installed");
        let served = Served(child);
        until("it is ready", || said(log).contains(" is ready: "));
        served
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn said(log: &std::path::Path) -> String {
    std::fs::read_to_string(log).unwrap_or_default()
}

/// Requests one after the other from the other end.
fn ask(pair: &Pair) {
    let script = format!(
        "import socket\ns = socket.create_connection(('{HERE}', 7000))\ns.setsockopt(6, 1, 1)\n\
         for _ in range({REQUESTS}):\n  s.sendall(b'PING\\r\\n')\n  assert s.recv(64) == b'+PONG\\r\\n'\n"
    );
    run(&["ip", "netns", "exec", &pair.there, "python3", "-c", &script]).expect("every PING is answered");
}

#[test]
fn busy_polling_takes_packets_from_a_device_with_napi() {
    let pair = match Pair::new() {
        Ok(pair) => pair,
        Err(reason) => return eprintln!("skipped, no veth pair can be had: {reason}"),
    };
    let log = std::env::temp_dir().join(format!("{}.log", pair.here));
    for driver in drivers() {
        let (flags, word): (&[&str], _) = match driver {
            "uring" => (&["--driver", driver, "--napi-busy-poll-us", "50"], ", napi 50 us)"),
            _ => (&["--driver", driver, "--busy-poll-us", "50"], ", busy poll 50 us"),
        };
        let plain = Served::start(&pair, &flags[..2], &log);
        let before = pair.polled();
        ask(&pair);
        assert_eq!(pair.polled(), before, "{driver}: nobody has asked for it");
        drop(plain);
        let _polling = Served::start(&pair, flags, &log);
        if !said(&log).contains(word) || driver == "epoll" && is_before_6_9() {
            eprintln!("skipped, this kernel does not have it for {driver}: {}", said(&log));
            continue;
        }
        let before = pair.polled();
        // How many depends on who is busy when: where all processors are, the interrupt is always first.
        let polled = (1..=ROUNDS_MAX).find_map(|round| {
            ask(&pair);
            Some((pair.polled() - before, round)).filter(|(packets, _)| *packets > 0)
        });
        let (packets, rounds) = polled.unwrap_or_else(|| panic!("{driver}: no packet was polled for"));
        println!("{driver}: {packets} packets of {} requests by busy polling", rounds * REQUESTS);
    }
    let _ = std::fs::remove_file(log);
}

/// Linux 6.9 taught epoll instances to poll devices.
fn is_before_6_9() -> bool {
    let uname = rustix::system::uname();
    let release = uname.release().to_string_lossy().into_owned();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < (6, 9)
}
