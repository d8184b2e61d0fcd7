//! Looking through all keys for the large ones (--bigkeys, --memkeys) and for those in much use (--hotkeys),
//! a SCAN at a time, so that a large keyspace stalls nobody.

use super::connection::Lost;
use super::format::show;
use super::options::Sought;
use super::scan::{Failure, Scan};
use super::session::Session;
use resp::client::Value;
use spec::setting::quote_always;
use std::thread::sleep;

/// SCANs between two pauses, where an interval is given.
const SCANS_A_PAUSE: u64 = 100;
/// Keys between two lines that say how far it is.
const KEYS_A_LINE: u64 = 1_000_000;
/// Keys in much use that are told at the end.
const HOT_KEYS_MAX: usize = 16;

/// Looks, and prints what it finds; true if nothing went wrong.
pub(super) fn run(session: &mut Session, sought: Sought, pattern: Option<&[u8]>, count: Option<u64>) -> bool {
    let scan = Scan::new(pattern, count);
    let found = match sought {
        Sought::Hot => hot(session, scan),
        Sought::Big => big(session, scan, None),
        Sought::Memory { samples } => big(session, scan, Some(samples)),
    };
    match found {
        Ok(()) => true,
        Err(Failure::Lost(Lost::Unreachable)) => false,
        Err(Failure::Lost(lost)) => {
            eprintln!("Error: {lost}");
            false
        }
        Err(Failure::Refused(text)) => {
            eprintln!("Error: {text}");
            false
        }
    }
}

fn title(what: &str) {
    show(
        format!(
            "\n# Scanning the entire keyspace to find {what} keys as well as\n\
             # average sizes per key type.  You can use -i 0.1 to sleep 0.1 sec\n\
             # per 100 SCAN commands (not usually needed).\n\n"
        )
        .as_bytes(),
    );
}

/// How far it is.
struct Progress {
    total: u64,
    sampled: u64,
    scans: u64,
}

impl Progress {
    fn begin(session: &mut Session) -> Result<Progress, Failure> {
        match session.ask(&["DBSIZE"]).map_err(Failure::Lost)? {
            Value::Integer(total) => Ok(Progress { total: total.unsigned_abs(), sampled: 0, scans: 0 }),
            Value::Error(text) => Err(Failure::Refused(text)),
            _ => Err(Failure::Refused("Non INTEGER response from DBSIZE!".into())),
        }
    }

    /// As the last scan began.
    fn percent(&self) -> f64 {
        100.0 * self.sampled as f64 / self.total as f64
    }

    /// Counts a key that is looked at while the scan is as far as `percent`.
    fn count(&mut self, percent: f64) {
        self.sampled += 1;
        if self.sampled.is_multiple_of(KEYS_A_LINE) {
            show(format!("[{percent:05.2}%] Sampled {} keys so far\n", self.sampled).as_bytes());
        }
    }

    /// A scan is done: pauses now and then, if that is asked for.
    fn scanned(&mut self, session: &Session) {
        self.scans += 1;
        if let Some(interval) = session.options.interval
            && self.scans.is_multiple_of(SCANS_A_PAUSE)
        {
            sleep(interval);
        }
    }

    fn summary(&self) {
        show(
            format!("\n-------- summary -------\n\nSampled {} keys in the keyspace!\n", self.sampled)
                .as_bytes(),
        );
    }
}

/// What is known of the keys of one type.
struct Kind {
    name: String,
    /// The command that tells a key's size, and what it counts.
    measure: Option<&'static str>,
    unit: &'static str,
    count: u64,
    size: u64,
    /// The largest one's quoted name and its size.
    biggest: Option<(String, u64)>,
}

impl Kind {
    const fn new(name: String, measure: Option<&'static str>, unit: &'static str) -> Kind {
        Kind { name, measure, unit, count: 0, size: 0, biggest: None }
    }

    /// Those that are told even where there is none, in redis-cli's order.
    fn usual() -> Vec<Kind> {
        [
            ("list", "LLEN", "items"),
            ("hash", "HLEN", "fields"),
            ("string", "STRLEN", "bytes"),
            ("stream", "XLEN", "entries"),
            ("set", "SCARD", "members"),
            ("zset", "ZCARD", "members"),
        ]
        .map(|(name, measure, unit)| Kind::new(name.to_owned(), Some(measure), unit))
        .into()
    }

    /// Adds a key; whether it is the largest so far.
    fn add(&mut self, key: &[u8], size: u64) -> bool {
        self.count += 1;
        self.size += size;
        let leads = size > self.biggest.as_ref().map_or(0, |(_, size)| *size);
        if leads {
            self.biggest = Some((quote_always(key), size));
        }
        leads
    }
}

/// Finds the largest key of each type: by elements, or by memory where `samples` is given (0: the server's
/// own number of samples).
fn big(session: &mut Session, mut scan: Scan<'_>, samples: Option<Option<u64>>) -> Result<(), Failure> {
    let (mut progress, mut kinds) = (Progress::begin(session)?, Kind::usual());
    title("biggest");
    let mut key_bytes = 0;
    while let Some(keys) = scan.step(session)? {
        let percent = progress.percent();
        let places = kinds_of(session, &keys, &mut kinds)?;
        let sizes = sizes(session, &keys, &places, &kinds, samples)?;
        for ((key, place), size) in keys.iter().zip(places).zip(sizes) {
            // It went between SCAN and TYPE.
            let Some(place) = place else { continue };
            key_bytes += key.len() as u64;
            let kind = &mut kinds[place];
            if kind.add(key, size) {
                let unit = if samples.is_some() { "bytes" } else { kind.unit };
                let quoted = quote_always(key);
                let (percent, name) = (format!("{percent:05.2}"), &kind.name);
                show(
                    format!("[{percent}%] Biggest {name:<6} found so far '{quoted}' with {size} {unit}\n")
                        .as_bytes(),
                );
            }
            progress.count(percent);
        }
        progress.scanned(session);
    }
    progress.summary();
    show(sizes_text(&kinds, progress.sampled, key_bytes, samples.is_some()).as_bytes());
    Ok(())
}

fn sizes_text(kinds: &[Kind], sampled: u64, key_bytes: u64, by_memory: bool) -> String {
    let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    let unit = |kind: &Kind| if by_memory { "bytes" } else { kind.unit };
    let average = share(key_bytes, sampled);
    let mut text = format!("Total key length in bytes is {key_bytes} (avg len {average:.2})\n\n");
    for kind in kinds {
        if let Some((key, size)) = &kind.biggest {
            text += &format!("Biggest {:>6} found '{key}' has {size} {}\n", kind.name, unit(kind));
        }
    }
    text.push('\n');
    for kind in kinds {
        let Kind { name, count, size, .. } = kind;
        let (percent, average) = (100.0 * share(*count, sampled), share(*size, *count));
        let unit = unit(kind);
        text +=
            &format!("{count} {name}s with {size} {unit} ({percent:05.2}% of keys, avg size {average:.2})\n");
    }
    text
}

/// The kind of each key, by its place among the kinds, to which those are added that were unknown.
fn kinds_of(
    session: &mut Session,
    keys: &[Vec<u8>],
    kinds: &mut Vec<Kind>,
) -> Result<Vec<Option<usize>>, Failure> {
    let commands = keys.iter().map(|key| vec![b"TYPE".to_vec(), key.clone()]).collect::<Vec<_>>();
    let mut places = Vec::with_capacity(keys.len());
    for (reply, key) in session.ask_all(&commands).map_err(Failure::Lost)?.into_iter().zip(keys) {
        let name = match reply {
            Value::Simple(name) => name,
            Value::Error(text) => {
                return Err(Failure::Refused(format!("TYPE on {}: {text}", quote_always(key))));
            }
            other => return Err(Failure::Refused(format!("unexpected reply to TYPE: {other:?}"))),
        };
        if name == "none" {
            places.push(None);
            continue;
        }
        let known = kinds.iter().position(|kind| kind.name == name);
        places.push(Some(known.unwrap_or_else(|| {
            kinds.push(Kind::new(name, None, "?"));
            kinds.len() - 1
        })));
    }
    Ok(places)
}

/// The size of each key.
fn sizes(
    session: &mut Session,
    keys: &[Vec<u8>],
    places: &[Option<usize>],
    kinds: &[Kind],
    samples: Option<Option<u64>>,
) -> Result<Vec<u64>, Failure> {
    let command = |key: &Vec<u8>, place: Option<usize>| -> Option<Vec<Vec<u8>>> {
        let kind = &kinds[place?];
        let Some(samples) = samples else {
            return Some(vec![kind.measure?.as_bytes().to_vec(), key.clone()]);
        };
        let mut words = vec![b"MEMORY".to_vec(), b"USAGE".to_vec(), key.clone()];
        if let Some(samples) = samples {
            words.extend([b"SAMPLES".to_vec(), samples.to_string().into_bytes()]);
        }
        Some(words)
    };
    let commands: Vec<_> = keys.iter().zip(places).map(|(key, place)| command(key, *place)).collect();
    let asked: Vec<_> = commands.iter().flatten().cloned().collect();
    let mut replies = session.ask_all(&asked).map_err(Failure::Lost)?.into_iter();
    let mut sizes = Vec::with_capacity(keys.len());
    for (command, key) in commands.iter().zip(keys) {
        let reply = if command.is_some() { replies.next() } else { None };
        sizes.push(match (command, reply) {
            (_, Some(Value::Integer(size))) => size.unsigned_abs(),
            (Some(words), Some(_)) => {
                let name = String::from_utf8_lossy(&words[0]);
                let key = String::from_utf8_lossy(key);
                eprintln!("Warning:  {name} on '{key}' failed (may have changed type)");
                0
            }
            _ => 0,
        });
    }
    Ok(sizes)
}

/// Finds the keys that are used most, where the server counts uses.
fn hot(session: &mut Session, mut scan: Scan<'_>) -> Result<(), Failure> {
    let mut progress = Progress::begin(session)?;
    title("hot");
    // The coolest first.
    let mut hottest: Vec<(u64, String)> = Vec::new();
    while let Some(keys) = scan.step(session)? {
        let percent = progress.percent();
        let words = |key: &Vec<u8>| vec![b"OBJECT".to_vec(), b"FREQ".to_vec(), key.clone()];
        let commands: Vec<_> = keys.iter().map(words).collect();
        let replies = session.ask_all(&commands).map_err(Failure::Lost)?;
        for (key, reply) in keys.iter().zip(replies) {
            let uses = match reply {
                Value::Integer(uses) => uses.unsigned_abs(),
                Value::Error(text) => return Err(Failure::Refused(text)),
                _ => {
                    let key = String::from_utf8_lossy(key);
                    eprintln!("Warning: OBJECT freq on '{key}' failed (may have been deleted)");
                    0
                }
            };
            progress.count(percent);
            if enter(&mut hottest, key, uses) {
                let key = quote_always(key);
                show(
                    format!("[{percent:05.2}%] Hot key '{key}' found so far with counter {uses}\n")
                        .as_bytes(),
                );
            }
        }
        progress.scanned(session);
    }
    progress.summary();
    for (uses, key) in hottest.iter().rev() {
        show(format!("hot key found with counter: {uses}\tkeyname: {key}\n").as_bytes());
    }
    Ok(())
}

/// Enters a key among the hottest, if it is one of them; of equal ones those that came first stay.
fn enter(hottest: &mut Vec<(u64, String)>, key: &[u8], uses: u64) -> bool {
    let cooler = hottest.iter().take_while(|(other, _)| *other < uses).count();
    let is_full = hottest.len() == HOT_KEYS_MAX;
    if uses == 0 || is_full && cooler == 0 {
        return false;
    }
    hottest.insert(cooler, (uses, quote_always(key)));
    if is_full {
        hottest.remove(0);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hottest_keys_stay_in_order() {
        let mut hottest = Vec::new();
        for uses in [3, 0, 9, 5, 5] {
            let entered = enter(&mut hottest, format!("k{uses}").as_bytes(), uses);
            assert_eq!(entered, uses > 0);
        }
        let told: Vec<u64> = hottest.iter().map(|(uses, _)| *uses).collect();
        assert_eq!(told, [3, 5, 5, 9]);
        (0..20).for_each(|_| {
            enter(&mut hottest, b"k", 7);
        });
        assert_eq!((hottest.len(), hottest[0].0, hottest[15].0), (HOT_KEYS_MAX, 7, 9));
        assert!(!enter(&mut hottest, b"k", 7) && !enter(&mut hottest, b"k", 2));
    }

    #[test]
    fn the_largest_of_a_kind_is_the_first_of_its_size() {
        let mut kinds = Kind::usual();
        assert!(kinds[0].add(b"a", 3) && !kinds[0].add(b"b", 3) && kinds[0].add(b"c", 4));
        let text = sizes_text(&kinds, 3, 3, false);
        assert!(
            text.starts_with("Total key length in bytes is 3 (avg len 1.00)\n\nBiggest   list found '\"c\"'")
        );
        assert!(text.contains("3 lists with 10 items (100.00% of keys, avg size 3.33)\n"));
        assert!(text.ends_with("0 zsets with 0 members (00.00% of keys, avg size 0.00)\n"));
    }
}
