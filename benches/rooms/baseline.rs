//! The baselines: a line per room in benches/baselines/rooms.txt, and the rule that judges by them.
//! It does not know how costs are counted.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// A step may cost this much more than its baseline before it fails.
const TOLERANCE: f64 = 1.03;
/// Half an instruction: what rounding and a moved branch of the set-up make.
const SLACK_INSTRUCTIONS: f64 = 0.5;
/// One allocation in a thousand steps is growth, not a habit.
const SLACK_ALLOCATIONS: f64 = 0.001;

/// What one step costs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Cost {
    pub(crate) instructions: f64,
    pub(crate) allocations: f64,
}

/// `Err` says what is wrong, `Ok` what is worth saying.
pub(crate) type Verdict = Result<&'static str, &'static str>;

/// Judges a cost by the baseline. The room's own target (0: none) is only told: a baseline holds what was
/// reached, and the way to a target is steps that each lower the baseline.
pub(crate) fn judge(cost: Cost, before: Option<Cost>, instructions_target: f64) -> Verdict {
    let Some(before) = before else { return Err("FAILED: no baseline; --update writes one") };
    if cost.instructions > before.instructions * TOLERANCE + SLACK_INSTRUCTIONS {
        return Err("FAILED: more than 3 % over its baseline");
    }
    if cost.allocations > before.allocations + SLACK_ALLOCATIONS {
        return Err("FAILED: allocates more than its baseline");
    }
    let better = cost.instructions * TOLERANCE + SLACK_INSTRUCTIONS < before.instructions;
    Ok(match (better, instructions_target > 0.0 && cost.instructions > instructions_target) {
        (true, _) => "better: --update keeps it",
        (false, true) => "over its target",
        (false, false) => "",
    })
}

/// A line of the table.
pub(crate) fn line(name: &str, cost: Cost, before: Option<Cost>, verdict: &Verdict) -> String {
    let (old, change) = match before {
        Some(before) => (
            format!("{:.1}", before.instructions),
            format!("{:+.1} %", 100.0 * (cost.instructions / before.instructions - 1.0)),
        ),
        None => ("-".into(), "-".into()),
    };
    let word = verdict.unwrap_or_else(|fault| fault);
    let line = format!(
        "{name:24} {:12.1} {old:>10} {change:>8} {:12.3} {word}",
        cost.instructions, cost.allocations
    );
    line.trim_end().to_string()
}

/// The checked-in costs by room.
pub(crate) struct Baselines {
    costs: BTreeMap<String, Cost>,
}

impl Baselines {
    pub(crate) fn read() -> Result<Self, String> {
        let text = fs::read_to_string(path()).unwrap_or_default();
        parse(&text)
            .ok_or_else(|| format!("{}: a line is not `room instructions allocations`", path().display()))
    }

    pub(crate) fn get(&self, name: &str) -> Option<Cost> {
        self.costs.get(name).copied()
    }

    pub(crate) fn set(&mut self, name: &str, cost: Cost) {
        self.costs.insert(name.into(), cost);
    }

    pub(crate) fn write(&self) -> Result<(), String> {
        fs::write(path(), self.text()).map_err(|error| format!("{}: {error}", path().display()))
    }

    fn text(&self) -> String {
        let mut text =
            String::from("# room, instructions a step, allocations a step (release profile, x86_64)\n");
        for (name, cost) in &self.costs {
            text += &format!("{name} {:.1} {:.3}\n", cost.instructions, cost.allocations);
        }
        text
    }
}

fn parse(text: &str) -> Option<Baselines> {
    let mut costs = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let name = words.next()?.to_string();
        let cost =
            Cost { instructions: words.next()?.parse().ok()?, allocations: words.next()?.parse().ok()? };
        costs.insert(name, cost);
    }
    Some(Baselines { costs })
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("baselines/rooms.txt")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(instructions: f64, allocations: f64) -> Cost {
        Cost { instructions, allocations }
    }

    #[test]
    fn three_per_cent_more_is_too_much() {
        let before = Some(cost(100.0, 0.0));
        assert!(judge(cost(103.0, 0.0), before, 0.0).is_ok());
        assert!(judge(cost(104.0, 0.0), before, 0.0).is_err());
        assert!(judge(cost(100.0, 0.01), before, 0.0).is_err());
        assert_eq!(judge(cost(100.0, 0.0), before, 99.0), Ok("over its target"));
        assert!(judge(cost(100.0, 0.0), None, 0.0).is_err());
    }

    #[test]
    fn what_is_written_can_be_read() {
        let mut baselines = parse("# room\nparse 12.5 0.000\n").expect("a good file");
        baselines.set("hop", cost(30.0, 1.0));
        let again = parse(&baselines.text()).expect("our own file");
        assert_eq!((again.get("parse"), again.get("hop")), (Some(cost(12.5, 0.0)), Some(cost(30.0, 1.0))));
        assert!(parse("parse twelve 0\n").is_none());
    }
}
