//! docs/compatibility.md says what is there: its lists are made from the declarations of commands and
//! settings. `UPDATE_DOCS=1 cargo test --test compatibility` writes them anew.

use commands::{Command, Run, Spread, Transaction};
use corelane::config;
use spec::setting::Effect;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

/// Every command of Redis 7.2 that is not a subcommand.
const REDIS_7_2: &str = "\
    acl append asking auth bgrewriteaof bgsave bitcount bitfield bitfield_ro bitop bitpos blmove \
    blmpop blpop brpop brpoplpush bzmpop bzpopmax bzpopmin client cluster command config copy dbsize \
    debug decr decrby del discard dump echo eval eval_ro evalsha evalsha_ro exec exists expire \
    expireat expiretime failover fcall fcall_ro flushall flushdb function geoadd geodist geohash \
    geopos georadius georadius_ro georadiusbymember georadiusbymember_ro geosearch geosearchstore \
    get getbit getdel getex getrange getset hdel hello hexists hget hgetall hincrby hincrbyfloat \
    hkeys hlen hmget hmset hrandfield hscan hset hsetnx hstrlen hvals incr incrby incrbyfloat info \
    keys lastsave latency lcs lindex linsert llen lmove lmpop lolwut lpop lpos lpush lpushx lrange \
    lrem lset ltrim memory mget migrate module monitor move mset msetnx multi object persist pexpire \
    pexpireat pexpiretime pfadd pfcount pfdebug pfmerge pfselftest ping psetex psubscribe psync pttl \
    publish pubsub punsubscribe quit randomkey readonly readwrite rename renamenx replconf replicaof \
    reset restore restore-asking role rpop rpoplpush rpush rpushx sadd save scan scard script sdiff \
    sdiffstore select set setbit setex setnx setrange shutdown sinter sintercard sinterstore \
    sismember slaveof slowlog smembers smismember smove sort sort_ro spop spublish srandmember srem \
    sscan ssubscribe strlen subscribe substr sunion sunionstore sunsubscribe swapdb sync time touch \
    ttl type unlink unsubscribe unwatch wait waitaof watch xack xadd xautoclaim xclaim xdel xgroup \
    xinfo xlen xpending xrange xread xreadgroup xrevrange xsetid xtrim zadd zcard zcount zdiff \
    zdiffstore zincrby zinter zintercard zinterstore zlexcount zmpop zmscore zpopmax zpopmin \
    zrandmember zrange zrangebylex zrangebyscore zrangestore zrank zrem zremrangebylex \
    zremrangebyrank zremrangebyscore zrevrange zrevrangebylex zrevrangebyscore zrevrank zscan zscore \
    zunion zunionstore";

fn how(command: &Command) -> &'static str {
    match command.run {
        Run::Container => "by subcommand",
        Run::Publish(_) => "where the client is; a parcel for each shard where it is heard",
        Run::Home(_) => "where the client is",
        Run::Journey(_) => "from the shard its arguments name on",
        Run::Everywhere(_) => "on every shard",
        Run::Plan(_) => "where its keys are; over several shards in two hops",
        Run::Local(_) if command.spread != Spread::None => {
            "where its keys are; over several shards in one hop"
        }
        Run::Local(_) if command.wide.is_some() => {
            "where its key is; where it needs others, in rounds over all shards"
        }
        Run::Local(_) => "where its key is",
        Run::Transaction(Transaction::Watch(_)) => "where its keys are; over several shards in one hop",
        Run::Transaction(Transaction::Exec) => {
            "where its keys are; over several shards in one hop, or in stages where a command needs one"
        }
        Run::Transaction(_) => "where the client is",
    }
}

fn command_list() -> String {
    let mut groups: BTreeMap<&str, Vec<&'static Command>> = BTreeMap::new();
    for command in commands::all() {
        groups.entry(command.group.name()).or_default().push(command);
    }
    let mut text = String::new();
    for (group, mut commands) in groups {
        commands.sort_by_key(|command| command.name);
        let _ = writeln!(text, "\n**{group}**\n\n| command | since Redis | runs |\n|---|---|---|");
        for command in commands {
            let mut name = command.name.to_owned();
            if !command.subcommands.is_empty() && !command.hidden_subcommands {
                let subs: Vec<&str> = command.subcommands.iter().map(|sub| sub.name).collect();
                let _ = write!(name, " ({})", subs.join(", "));
            }
            let _ = writeln!(text, "| {name} | {} | {} |", command.since, how(command));
        }
    }
    text
}

fn missing_list() -> String {
    let have: Vec<String> = commands::all().iter().map(|command| command.name.to_ascii_lowercase()).collect();
    let missing: Vec<&str> =
        REDIS_7_2.split_whitespace().filter(|name| !have.iter().any(|own| own == name)).collect();
    format!("\n{}\n", missing.join(", "))
}

fn setting_list() -> String {
    let mut text = String::new();
    for (effect, title) in [
        (Effect::AcceptedOnly, "Accepted, without effect so far"),
        (Effect::DefaultOnly, "Only the default is accepted"),
    ] {
        let mut names: Vec<&str> = config::SETTINGS
            .iter()
            .filter(|setting| config::effect(setting) == effect)
            .map(|setting| setting.name)
            .collect();
        names.sort_unstable();
        let _ = writeln!(text, "\n**{title}:** {}.", names.join(", "));
    }
    text
}

/// Puts `body` between the markers of `name`.
fn replace(text: &str, name: &str, body: &str) -> String {
    let (open, close) = (format!("<!-- {name} -->"), format!("<!-- end of {name} -->"));
    let start = text.find(&open).unwrap_or_else(|| panic!("{open} is missing")) + open.len();
    let end = text.find(&close).unwrap_or_else(|| panic!("{close} is missing"));
    format!("{}\n{body}\n{}", &text[..start], &text[end..])
}

#[test]
fn the_lists_are_those_of_the_declarations() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/compatibility.md");
    let text = std::fs::read_to_string(&path).expect("docs/compatibility.md");
    let mut made = replace(&text, "commands", &command_list());
    made = replace(&made, "commands to come", &missing_list());
    made = replace(&made, "settings", &setting_list());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &made).expect("the document can be written");
        return;
    }
    assert!(text == made, "docs/compatibility.md is stale: UPDATE_DOCS=1 cargo test --test compatibility");
}
