//! LOLWUT: a street with a lane for each shard, and the version.

use crate::command::{Command, Run};
use crate::context::{Args, Random};
use crate::home::{After, Home};
use crate::number;
use resp::Reply;
use spec::{Argument, ArgumentKind, Flags, Group};

pub(super) static LOLWUT: Command = Command::new("LOLWUT", Group::Server, Run::Home(lolwut))
    .arity(-1)
    .flags(Flags::READONLY.with(Flags::FAST))
    .summary("5.0.0", "Displays computer art and the Redis version")
    .complexity("")
    .arguments(&[Argument::new("version", ArgumentKind::Integer).token("VERSION").optional()]);

const COLUMNS: usize = 66;
/// More would not fit a screen.
const LANES_MAX: u16 = 16;
const CARS: [&str; 4] = ["<==o", "<-o-o", "<o", "<===o-o"];

/// VERSION chooses among Redis's pictures; there is one here, and the number is checked alone.
fn lolwut(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    if args.len() > 2 && args.is(1, "VERSION") && number::integer(args.get(2), reply).is_none() {
        return After::Done;
    }
    let lanes = home.house.shards().clamp(2, LANES_MAX);
    let mut picture = street(lanes, home.house.random());
    let version = &home.house.settings().live.redis_version;
    picture.push_str(&format!("\nA lane for each core. Redis ver. {version}\n"));
    reply.verbatim("txt", picture.as_bytes());
    After::Done
}

fn street(lanes: u16, random: &mut Random) -> String {
    let kerb = "=".repeat(COLUMNS);
    let mut picture = format!("{kerb}\n");
    for lane in 0..lanes {
        if lane > 0 {
            picture.push_str(&"-   ".repeat(COLUMNS / 4));
            picture.push('\n');
        }
        let mut line = String::with_capacity(COLUMNS);
        loop {
            let gap = random.below(24) as usize;
            let car = CARS[random.below(CARS.len() as u64) as usize];
            if line.len() + gap + car.len() > COLUMNS {
                break;
            }
            line.push_str(&" ".repeat(gap));
            line.push_str(car);
        }
        picture.push_str(&line);
        picture.push('\n');
    }
    picture + &kerb + "\n"
}
