//! MULTI, EXEC, DISCARD and WATCH as one client sees them, on any number of shards.

use corelane_sim::Talk;

const SHARDS: [u16; 5] = [1, 2, 3, 4, 8];

/// What a client is told, with line ends shown as spaces.
fn told(shards: u16, asked: &str) -> String {
    let bytes = asked.replace('\n', "\r\n");
    let told = Talk { rounds: 400, ..Talk::new(shards, bytes.as_bytes()) }.hold().expect("nothing breaks");
    told.bytes.replace("\r\n", " ").trim_end().to_owned()
}

#[track_caller]
fn check(asked: &str, expected: &str) {
    for shards in SHARDS {
        assert_eq!(told(shards, asked), expected, "{asked} on {shards} shards");
    }
}

#[test]
fn what_is_queued_runs_in_its_order() {
    check("MULTI\nEXEC\n", "+OK *0");
    check(
        "MULTI\nSET a 1\nINCR a\nSET b x\nGET a\nMGET a b c\nEXEC\nGET a\n",
        "+OK +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED *5 +OK :2 +OK $1 2 *3 $1 2 $1 x $-1 $1 2",
    );
    check(
        "MSET a 1 b 2 c 3 d 4\nMULTI\nDEL a b\nMSET a 5 d 6\nEXISTS a b c d a\nMGET d c b a\nEXEC\n",
        "+OK +OK +QUEUED +QUEUED +QUEUED +QUEUED *4 :2 +OK :4 *4 $1 6 $1 3 $-1 $1 5",
    );
}

#[test]
fn an_error_of_one_does_not_stop_the_others() {
    check(
        "SET a x\nMULTI\nINCR a\nSET b 1\nLPUSH b 1\nMGET a b\nEXEC\n",
        "+OK +OK +QUEUED +QUEUED +QUEUED +QUEUED *4 -ERR value is not an integer or out of range +OK \
         -WRONGTYPE Operation against a key holding the wrong kind of value *2 $1 x $1 1",
    );
}

#[test]
fn plans_over_several_shards_make_stages() {
    check(
        "MULTI\nSET a 1\nRENAME a b\nGET b\nRENAME b c\nCOPY c d\nMSETNX d 1 e 2\nMSETNX e 2 f 3\n\
         MGET a b c d e f\nRENAME nosuch x\nDBSIZE\nEXEC\n",
        "+OK +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED \
         *10 +OK +OK $1 1 +OK :1 :0 :1 *6 $-1 $-1 $1 1 $1 1 $1 2 $1 3 -ERR no such key :4",
    );
    check(
        "RPUSH a 1 2 3\nMULTI\nLMOVE a b LEFT RIGHT\nLMOVE a b LEFT RIGHT\nLRANGE b 0 -1\nLLEN a\nLMOVE b c LEFT LEFT\nEXEC\nLRANGE c 0 -1\n",
        ":3 +OK +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED *5 $1 1 $1 2 *2 $1 1 $1 2 :1 $1 1 *1 $1 1",
    );
}

#[test]
fn commands_that_need_other_keys_have_their_rounds() {
    check(
        "MSET w1 3 w2 1 w3 2\nWATCH d\nMULTI\nRPUSH l 1 2 3\nSORT l BY w*\nSET w2 9\nSORT l BY w* GET # GET w*\nSORT l BY w* STORE d\n\
         LRANGE d 0 0\nEXEC\n",
        "+OK +OK +OK +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED \
         *6 :3 *3 $1 2 $1 3 $1 1 +OK *6 $1 3 $1 2 $1 1 $1 3 $1 2 $1 9 :3 *1 $1 3",
    );
    check(
        "MSET w1 3 w2 1\nRPUSH l 1 2\nWATCH d\nSORT l BY w* STORE d\nMULTI\nPING\nEXEC\n",
        "+OK :2 +OK :2 +OK +QUEUED *-1",
    );
}

#[test]
fn commands_about_the_connection_and_the_server_have_their_place() {
    check(
        "MULTI\nSET a 0\nSELECT 1\nSET a 1\nPING\nECHO hi\nGET a\nSELECT 0\nGET a\nUNWATCH\nEXEC\n",
        "+OK +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED \
         *9 +OK +OK +OK +PONG $2 hi $1 1 +OK $1 0 +OK",
    );
    check(
        "MULTI\nSET a 1\nSET b 1\nDBSIZE\nFLUSHDB\nDBSIZE\nSET c 1\nSWAPDB 0 1\nDBSIZE\nSELECT 1\nDBSIZE\nEXEC\n",
        "+OK +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED \
         *10 +OK +OK :2 +OK :0 +OK +OK :0 +OK :1",
    );
    check(
        "MULTI\nCONFIG SET pipeline-order relaxed\nCONFIG GET pipeline-order\nSET a 1\nDEBUG SLEEP 0.002\nGET a\nEXEC\nPING\n",
        "+OK +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED *5 +OK *2 $14 pipeline-order $7 relaxed +OK +OK $1 1 +PONG",
    );
}

#[test]
fn what_is_refused_spoils_the_transaction() {
    let spoilt = "-EXECABORT Transaction discarded because of previous errors.";
    check(
        "MULTI\nSET a\nSET a 1\nEXEC\nEXISTS a\n",
        &format!("+OK -ERR wrong number of arguments for 'set' command +QUEUED {spoilt} :0"),
    );
    check(
        "MULTI\nNOSUCH a\nEXEC\nEXEC\n",
        &format!(
            "+OK -ERR unknown command 'NOSUCH', with args beginning with: 'a'  {spoilt} -ERR EXEC without MULTI"
        ),
    );
    check("MULTI\nSHUTDOWN\nEXEC\n", &format!("+OK -ERR Command not allowed inside a transaction {spoilt}"));
    check(
        "MULTI\nEXEC now\nPING\n",
        "+OK -EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command +PONG",
    );
    check(
        "EXEC now\nPING\n",
        "-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command +PONG",
    );
}

#[test]
fn transactions_do_not_nest_and_can_be_discarded() {
    check(
        "DISCARD\nMULTI\nMULTI\nWATCH a\nSET a 1\nDISCARD\nGET a\nMULTI\nSET a 2\nRESET\nEXEC\nGET a\n",
        "-ERR DISCARD without MULTI +OK -ERR MULTI calls can not be nested \
         -ERR WATCH inside MULTI is not allowed +QUEUED +OK $-1 +OK +QUEUED +RESET -ERR EXEC without MULTI $-1",
    );
}

#[test]
fn a_watched_key_that_has_changed_stops_the_transaction() {
    for key in ["a", "b", "c", "d", "e"] {
        check(
            &format!("SET {key} 1\nWATCH a b c d e\nSET {key} 2\nMULTI\nINCR a\nPING\nEXEC\nGET {key}\n"),
            "+OK +OK +OK +OK +QUEUED +QUEUED *-1 $1 2",
        );
        check(
            &format!("WATCH {key}\nSET {key} 2\nUNWATCH\nMULTI\nPING\nEXEC\n"),
            "+OK +OK +OK +OK +QUEUED *1 +PONG",
        );
        check(
            &format!("WATCH {key}\nSET {key} 2\nMULTI\nPING\nEXEC\nMULTI\nPING\nEXEC\n"),
            "+OK +OK +OK +QUEUED *-1 +OK +QUEUED *1 +PONG",
        );
        check(&format!("WATCH {key}\nDEL {key} x\nMULTI\nGET {key}\nEXEC\n"), "+OK :0 +OK +QUEUED *1 $-1");
        check(
            &format!("WATCH a b c\nWATCH d e\nGET {key}\nMULTI\nSET {key} 1\nSET x 1\nEXEC\n"),
            "+OK +OK $-1 +OK +QUEUED +QUEUED *2 +OK +OK",
        );
    }
}

#[test]
fn changes_by_any_way_are_seen() {
    let moved = |before: &str, change: &str, told: &str| {
        check(
            &format!("{before}\nWATCH a b\n{change}\nMULTI\nPING\nEXEC\n"),
            &format!("{told} +OK +QUEUED *-1"),
        );
    };
    moved("SET c 1", "RENAME c a", "+OK +OK +OK");
    moved("SET a 1", "RENAME a c", "+OK +OK +OK");
    moved("SET c 1", "COPY c b", "+OK +OK :1");
    moved("PING", "MSETNX b 1 c 2", "+PONG +OK :1");
    moved("SET a 1", "FLUSHDB", "+OK +OK +OK");
    moved("SET a 1", "FLUSHALL\nSET a 1", "+OK +OK +OK +OK");
    moved("SET a 1", "SWAPDB 0 1", "+OK +OK +OK");
    moved("SET a 1", "MOVE a 1", "+OK +OK :1");
    moved("SET a 1", "EXPIRE a 100", "+OK +OK :1");
    moved("SET a 1", "DEL x a", "+OK +OK :1");
    moved("RPUSH a 1", "LTRIM a 0 -1", ":1 +OK +OK");
    moved("RPUSH c 1", "LMOVE c a LEFT LEFT", ":1 +OK $1 1");
    moved("SADD c 1", "SMOVE c b 1", ":1 +OK :1");
    moved("SADD b 1", "SMOVE b c 1", ":1 +OK :1");
    moved("SADD c 1", "SUNIONSTORE b c", ":1 +OK :1");
    moved("SET a 1 PX 5", "DEBUG SLEEP 0.02", "+OK +OK +OK");
    moved("SET a 1 PX 5", "DEBUG SLEEP 0.02\nGET a", "+OK +OK +OK $-1");
    moved("SET a 1", "MULTI\nSET b 2\nEXEC\nWATCH a\nINCR a", "+OK +OK +OK +QUEUED *1 +OK +OK :2");
}

#[test]
fn what_does_not_change_a_key_is_not_taken_for_a_change() {
    let stands = |before: &str, other: &str, told: &str| {
        check(
            &format!("{before}\nWATCH a b\n{other}\nMULTI\nPING\nEXEC\n"),
            &format!("{told} +OK +QUEUED *1 +PONG"),
        );
    };
    stands("SET a 1", "SELECT 1\nSET a 2\nSELECT 0", "+OK +OK +OK +OK +OK");
    stands("SET a 1", "SELECT 1\nFLUSHDB\nSELECT 0", "+OK +OK +OK +OK +OK");
    stands("SET a 1", "SWAPDB 2 3", "+OK +OK +OK");
    stands("SET a 1", "SET a 2 NX\nMSETNX a 1 b 2\nEXISTS a b\nGET a", "+OK +OK $-1 :0 :1 $1 1");
    stands("SET a 1", "SET c 1\nDEL c b\nSETNX a 4", "+OK +OK +OK :1 :0");
    stands("SET a 1 PX 5\nDEBUG SLEEP 0.02", "GET a\nDEL a", "+OK +OK +OK $-1 :0");
    stands("SET a 1 PX 5\nDEBUG SLEEP 0.02", "FLUSHALL", "+OK +OK +OK +OK");
}

#[test]
fn replies_that_nobody_wants_are_not_sent() {
    check("CLIENT REPLY OFF\nMULTI\nSET a 1\nSET b 2\nEXEC\nCLIENT REPLY ON\nMGET a b\n", "+OK *2 $1 1 $1 2");
    check("MULTI\nSET a 1\nCLIENT REPLY SKIP\nEXEC\nGET a\nGET a\n", "+OK +QUEUED +QUEUED *2 +OK $-1 $1 1");
}

#[test]
fn a_queue_is_bounded_by_the_input_limit() {
    for shards in SHARDS {
        let set = format!("SET a {}\r\n", "v".repeat(60_000));
        let asked =
            format!("CONFIG SET client-query-buffer-limit 1mb\r\nMULTI\r\n{}EXEC\r\n", set.repeat(30));
        let told =
            Talk { rounds: 400, ..Talk::new(shards, asked.as_bytes()) }.hold().expect("nothing breaks");
        assert!(told.closed && !told.bytes.contains('*'), "{shards} shards: {}", told.bytes);
    }
}

#[test]
fn the_state_of_a_transaction_is_shown() {
    for shards in SHARDS {
        let shown = told(shards, "CLIENT LIST\nMULTI\nPING\nCLIENT LIST\nEXEC\n");
        assert!(shown.contains(" multi=-1 ") && shown.contains("flags=N "), "{shown}");
        let shown = told(shards, "MULTI\nINFO corelane\nEXEC\nINFO corelane\n");
        assert!(shown.contains("exec_one_hop:1"), "{shown}");
        let shown = told(shards, "MULTI\nINCR a\nINCR a\nEXEC\nINFO commandstats\n");
        assert!(
            shown.contains("cmdstat_incr:calls=2,") && shown.contains("cmdstat_exec:calls=1,"),
            "{shown}"
        );
    }
}
