//! Instructions and allocations of each room of a request's life, against checked-in baselines.
//! It knows rooms as functions that do a number of steps; what a step is, the room's own file says.
//!
//! Instructions are counted by valgrind for two numbers of steps: the difference is free of set-up.

#![forbid(unsafe_code)]

mod baseline;
mod count;
mod hop;
mod parse;
mod reply;
mod store;
mod tick;

use baseline::{Baselines, Cost};
use std::process::ExitCode;

const USAGE: &str = "rooms [--update] [--room NAME]
  --update      write what was counted into benches/baselines/rooms.txt
  --room NAME   only this room
  rooms NAME steps N   do the steps, uncounted (what valgrind runs)";

/// A room: sets itself up, then does steps when called.
struct Room {
    /// Its name in the baselines.
    name: &'static str,
    /// The target for a step's instructions; 0 says nothing.
    instructions_target: f64,
    /// Makes the room; the function it gives does as many steps as asked.
    build: fn() -> Box<dyn FnMut(u64)>,
}

const ROOMS: &[Room] = &[
    parse::GET,
    parse::SET,
    reply::BULK,
    store::GET,
    store::SET,
    store::INCREMENT,
    hop::HOP,
    tick::GET,
    tick::SET,
    tick::INCR,
    tick::GET_HERE,
    tick::GET_AWAY,
    tick::MSET_HERE,
    tick::MSET_SPLIT,
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words[..] {
        [name, "steps", steps] => return do_steps(name, steps),
        [] => compare(None, false),
        ["--update"] => compare(None, true),
        ["--room", name] => compare(Some(name), false),
        ["--room", name, "--update"] | ["--update", "--room", name] => compare(Some(name), true),
        _ => Err(USAGE.into()),
    };
    match result {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("rooms: {message}");
            ExitCode::from(2)
        }
    }
}

fn do_steps(name: &str, steps: &str) -> ExitCode {
    let room = ROOMS.iter().find(|room| room.name == name);
    let (Some(room), Ok(steps)) = (room, steps.parse()) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    (room.build)()(steps);
    ExitCode::SUCCESS
}

/// Counts every room and says how many went beyond their baseline.
fn compare(only: Option<&str>, update: bool) -> Result<usize, String> {
    let mut baselines = Baselines::read()?;
    let (mut passed, mut failed) = (0, 0);
    println!("{:24} {:>12} {:>10} {:>8} {:>12}", "room", "instructions", "baseline", "change", "allocations");
    for room in ROOMS.iter().filter(|room| only.is_none_or(|name| name == room.name)) {
        let cost = Cost {
            instructions: count::instructions(room.name)?,
            allocations: count::allocations((room.build)()),
        };
        let before = baselines.get(room.name);
        let verdict = baseline::judge(cost, before, room.instructions_target);
        println!("{}", baseline::line(room.name, cost, before, &verdict));
        if verdict.is_ok() {
            passed += 1
        } else {
            failed += 1
        }
        if update {
            baselines.set(room.name, cost);
        }
    }
    if passed + failed == 0 {
        return Err(USAGE.into());
    }
    if update {
        baselines.write()?;
        return Ok(0);
    }
    println!("rooms: {passed} passed, {failed} failed");
    Ok(failed)
}
