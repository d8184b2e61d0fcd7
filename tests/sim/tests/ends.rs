//! A client that closes its half is closed in the end, whatever it waits for then.

use corelane_sim::{Talk, Told};

/// What a client that closes its half behind its bytes is told, with any number of shards and in either
/// order of pipelines.
fn ends(asked: &str, told: &str, how: impl Fn(Talk<'_>) -> Talk<'_>) {
    for shards in [1, 2, 3] {
        for strict in [true, false] {
            let talk = Talk { strict, ends: true, ..Talk::new(shards, asked.as_bytes()) };
            let wanted = Told { bytes: told.into(), closed: true };
            assert_eq!(how(talk).hold(), Ok(wanted), "{asked:?} with {shards} shards, strict {strict}");
        }
    }
}

/// So many replies that a client which does not read is stuck, with their questions.
fn many(count: usize) -> (String, String) {
    let text = "x".repeat(300);
    (format!("ECHO {text}\r\n").repeat(count), format!("$300\r\n{text}\r\n").repeat(count))
}

#[test]
fn with_nothing_or_half_a_frame_under_way() {
    ends("", "", |talk| talk);
    ends("PING\r\n*2\r\n$4\r\nEC", "+PONG\r\n", |talk| talk);
}

#[test]
fn while_answers_are_away_with_a_backlog_behind() {
    let asked = "GET a\r\nGET b\r\nMSET a 1 b 2\r\nDBSIZE\r\nGET a\r\nGET b\r\n";
    ends(asked, "$-1\r\n$-1\r\n+OK\r\n:2\r\n$1\r\n1\r\n$1\r\n2\r\n", |talk| talk);
    ends("DEBUG SLEEP 0.005\r\nPING\r\n", "+OK\r\n+PONG\r\n", |talk| talk);
}

#[test]
fn while_it_does_not_read_its_replies() {
    let (asked, told) = many(12);
    ends(&asked, &told, |talk| Talk { deaf: 20, ..talk });
    // The last it asked is away when the others are stuck.
    ends(&format!("{asked}GET a\r\nGET b\r\n"), &format!("{told}$-1\r\n$-1\r\n"), |talk| Talk {
        deaf: 20,
        ..talk
    });
}

#[test]
fn while_it_waits_for_its_next_turn() {
    let (asked, told) = many(12);
    ends(&asked, &told, |talk| Talk { share: 600, ..talk });
    ends(&asked, &told, |talk| Talk { share: 600, deaf: 20, ..talk });
}

#[test]
fn while_a_pause_holds_it_or_will_hold_it() {
    // A pause may last for hours: what it holds is not run any more.
    ends("CLIENT PAUSE 1000000\r\nSET a 1\r\n", "+OK\r\n", |talk| talk);
    ends("CLIENT PAUSE 1000000 WRITE\r\nGET a\r\nSET b 1\r\n", "+OK\r\n$-1\r\n", |talk| talk);
    let asleep = "CLIENT PAUSE 1000000 WRITE\r\nDEBUG SLEEP 0.005\r\nSET a 1\r\n";
    ends(asleep, "+OK\r\n+OK\r\n", |talk| talk);
    let (asked, told) = many(12);
    let stuck = format!("CLIENT PAUSE 1000000 WRITE\r\n{asked}SET a 1\r\n");
    ends(&stuck, &format!("+OK\r\n{told}"), |talk| Talk { deaf: 20, share: 600, ..talk });
}
