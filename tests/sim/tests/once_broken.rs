//! What the simulator has found, told in a sentence each: it must not come back.

use corelane_sim::{Talk, Told};

/// A key on every one of two shards: `a` lives on the second, `b` on the first.
fn hold(strict: bool, asked: &str, told: &str, closed: bool) {
    for shards in [1, 2, 3] {
        let answer = Talk { strict, ..Talk::new(shards, asked.as_bytes()) }.hold();
        let wanted = Told { bytes: told.into(), closed };
        assert_eq!(answer, Ok(wanted), "{asked:?} with {shards} shards, strict {strict}");
    }
}

/// In either order of pipelines.
fn check(asked: &str, told: &str) {
    hold(true, asked, told, false);
    hold(false, asked, told, false);
}

#[test]
fn replies_come_in_the_order_of_questions_wherever_keys_are() {
    check(
        "SET a 1\r\nSET b 2\r\nGET a\r\nGET b\r\nGET a\r\n",
        "+OK\r\n+OK\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n1\r\n",
    );
    check(
        "*2\r\n$4\r\nECHO\r\n$1\r\nx\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n*2\r\n$3\r\nGET\r\n$1\r\nb\r\n*1\r\n$6\r\nDBSIZE\r\n",
        "$1\r\nx\r\n$-1\r\n$-1\r\n:0\r\n",
    );
    check(
        "PING\r\nMSET a 1 b 2\r\nPING\r\nMGET b a\r\n",
        "+PONG\r\n+OK\r\n+PONG\r\n*2\r\n$1\r\n2\r\n$1\r\n1\r\n",
    );
}

#[test]
fn nothing_runs_behind_an_inline_quit() {
    for strict in [true, false] {
        hold(strict, "QUIT\r\nPING\r\n", "+OK\r\n", true);
        hold(strict, "SET a 1\r\nQUIT\r\nSET a 2\r\n*1\r\n$4\r\nPING\r\n", "+OK\r\n+OK\r\n", true);
    }
}

#[test]
fn a_reply_that_comes_later_is_muted_too() {
    let sleep = "DEBUG SLEEP 0.002\r\n";
    check(&format!("CLIENT REPLY OFF\r\n{sleep}CLIENT REPLY ON\r\nPING\r\n"), "+OK\r\n+PONG\r\n");
    check(&format!("CLIENT REPLY SKIP\r\n{sleep}PING\r\n"), "+PONG\r\n");
    check("CLIENT REPLY SKIP\r\nCONFIG REWRITE\r\nPING\r\n", "+PONG\r\n");
    check("CLIENT REPLY SKIP\r\nMGET a b\r\nPING\r\n", "+PONG\r\n");
}

#[test]
fn a_broken_frame_behind_commands_that_travel_is_told_last() {
    for strict in [true, false] {
        let told = "$-1\r\n$-1\r\n-ERR Protocol error: expected '$', got 'x'\r\n";
        hold(strict, "GET a\r\nGET b\r\n*1\r\nx\r\n", told, true);
    }
}
