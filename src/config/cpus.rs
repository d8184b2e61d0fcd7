//! Lists of CPUs as `taskset` writes them: `0-3,8,10-20:2`. Does not look at the machine.

use spec::setting::Value;

/// No machine has more CPUs than this (Linux's own limit).
const CPUS_MAX: usize = 8192;

/// Reads a list, in the order written, without repeats; `None` where it is malformed.
pub fn list(text: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (range, step) = match part.split_once(':') {
            Some((range, step)) => (range, number(step).filter(|&step| step > 0)?),
            None => (part, 1),
        };
        let (first, last) = match range.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(range)?, number(range)?),
        };
        if first > last {
            return None;
        }
        for cpu in (first..=last).step_by(step) {
            if !cpus.contains(&cpu) {
                cpus.push(cpu);
            }
        }
    }
    Some(cpus)
}

fn number(digits: &str) -> Option<usize> {
    digits.parse().ok().filter(|&cpu| cpu < CPUS_MAX)
}

/// Refuses what is no list.
pub(super) fn check(value: &Value) -> Result<(), String> {
    match list(value.text()) {
        Some(_) => Ok(()),
        None => Err("argument must be a list of CPUs such as 0-3,8 or 0-15:2".into()),
    }
}
