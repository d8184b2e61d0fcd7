//! Kinds of settings: how the words of a value are read, bounded, refused and printed, in the wording
//! of Redis. Knows no setting by name.

use super::value::{ClientClass, Events, OutputLimit, SavePoint, Value};
use std::fmt::Write;

/// What a setting holds, with its bounds.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `yes` or `no`.
    Bool,
    /// A whole number.
    Integer {
        /// Least allowed.
        min: i64,
        /// Most allowed.
        max: i64,
    },
    /// A whole number that is brought within the bounds instead of being refused.
    Clamped {
        /// Least held.
        min: i64,
        /// Most held.
        max: i64,
    },
    /// A whole number, or `auto` (held as -1).
    Auto {
        /// Most allowed; the least is 1.
        max: i64,
    },
    /// Bytes: a number with an optional unit (`k` = 1000, `kb` = 1024, `m`, `mb`, `g`, `gb`).
    Memory {
        /// Least allowed.
        min: i64,
        /// Most allowed.
        max: i64,
    },
    /// Bytes, or a share such as `5%` of the whole (held as -5).
    MemoryOrPercent,
    /// A number in octal, at most `0777`.
    Octal,
    /// One of these names, in any case.
    Choice(&'static [&'static str]),
    /// Several of these names; the first stands for none of the others.
    Choices(&'static [&'static str]),
    /// Any text.
    Text,
    /// A list of words.
    Words {
        /// Most words allowed.
        max: usize,
    },
    /// Points of time to save at: pairs of seconds and changes.
    Save,
    /// Output buffer limits: class, hard, soft and seconds, for any of the classes.
    OutputLimits,
    /// Classes of keyspace events.
    Events,
    /// Percentiles between 0 and 100.
    Percentiles,
    /// As many numbers, each within the bounds.
    Numbers {
        /// How many.
        count: usize,
        /// Least allowed.
        min: i64,
        /// Most allowed.
        max: i64,
    },
}

impl Kind {
    /// Is a value of several words? If so CONFIG SET splits its one argument, and a file may give many.
    pub const fn takes_words(&self) -> bool {
        matches!(
            self,
            Kind::Choices(_)
                | Kind::Words { .. }
                | Kind::Save
                | Kind::OutputLimits
                | Kind::Percentiles
                | Kind::Numbers { .. }
        )
    }

    /// Reads the words of a value. `before` is the value held so far: output limits change only the
    /// classes that are named. The reason of a refusal is in the words of Redis.
    pub fn parse(&self, words: &[&str], before: &Value) -> Result<Value, String> {
        if self.takes_words() {
            return self.parse_words(words, before);
        }
        let [word] = words else { return Err("wrong number of arguments".into()) };
        match *self {
            Kind::Bool => match word {
                word if word.eq_ignore_ascii_case("yes") => Ok(Value::Flag(true)),
                word if word.eq_ignore_ascii_case("no") => Ok(Value::Flag(false)),
                _ => Err("argument must be 'yes' or 'no'".into()),
            },
            Kind::Integer { min, max } => integer(word).and_then(|number| bounded(number, min, max)),
            Kind::Clamped { min, max } => {
                bounded(integer(word)?, 0, i64::from(i32::MAX))?;
                integer(word).map(|number| Value::Number(number.clamp(min, max)))
            }
            Kind::Auto { max } => match word {
                word if word.eq_ignore_ascii_case("auto") => Ok(Value::Number(-1)),
                word => integer(word).and_then(|number| bounded(number, 1, max)),
            },
            Kind::Memory { min, max } => {
                let bytes = memory(word).ok_or("argument must be a memory value")?;
                match i64::try_from(bytes) {
                    Ok(bytes) => bounded(bytes, min, max),
                    Err(_) => Err(between(min, max)),
                }
            }
            Kind::MemoryOrPercent => memory_or_percent(word),
            Kind::Octal => match i64::from_str_radix(word, 8) {
                Ok(bits @ 0..=0o777) => Ok(Value::Number(bits)),
                Ok(_) => Err("argument must be between 0 and 777 inclusive".into()),
                Err(_) => Err("argument couldn't be parsed as an octal number".into()),
            },
            Kind::Choice(names) => match choice(names, word) {
                Some(index) => Ok(Value::Choice(index)),
                None => Err(one_of(names)),
            },
            Kind::Text => Ok(Value::Text((*word).to_string())),
            Kind::Events => Events::parse(word)
                .map(Value::Events)
                .ok_or_else(|| "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.".to_string()),
            _ => unreachable!("kinds of several words are read by parse_words"),
        }
    }

    fn parse_words(&self, words: &[&str], before: &Value) -> Result<Value, String> {
        // One empty word says "none", as in `save ""`.
        let words = if matches!(words, [""]) { &[] } else { words };
        match *self {
            Kind::Choices(names) => choices(names, words),
            Kind::Words { max } if words.len() > max => Err(format!("at most {max} values are allowed")),
            Kind::Words { .. } => Ok(Value::Words(words.iter().map(ToString::to_string).collect())),
            Kind::Save => save_points(words).ok_or_else(|| "Invalid save parameters".into()),
            Kind::OutputLimits => output_limits(words, before),
            Kind::Percentiles => percentiles(words),
            Kind::Numbers { count, .. } if words.len() != count => Err("wrong number of arguments".into()),
            Kind::Numbers { min, max, .. } => {
                let number = |word: &&str| word.parse().ok().filter(|number| (min..=max).contains(number));
                let numbers: Option<Vec<i64>> = words.iter().map(number).collect();
                let refusal =
                    || format!("Invalid oom-score-adj-values, elements must be between {min} and {max}.");
                numbers.map(Value::Numbers).ok_or_else(refusal)
            }
            _ => unreachable!("kinds of one word are read by parse"),
        }
    }

    /// Prints a value as CONFIG GET shows it.
    pub fn print(&self, value: &Value) -> String {
        match (*self, value) {
            (Kind::Bool, Value::Flag(flag)) => if *flag { "yes" } else { "no" }.into(),
            (Kind::Auto { .. }, Value::Number(-1)) => "auto".into(),
            (Kind::MemoryOrPercent, Value::Number(share @ ..0)) => format!("{}%", share.unsigned_abs()),
            (Kind::Octal, Value::Number(bits)) => format!("{bits:o}"),
            (_, Value::Number(number)) => number.to_string(),
            (Kind::Choice(names), Value::Choice(index)) => names[*index].into(),
            (Kind::Choices(names), Value::Choices(0)) => names[0].into(),
            (Kind::Choices(names), Value::Choices(bits)) => {
                let named = names.iter().enumerate().skip(1);
                join(named.filter(|(index, _)| bits >> index & 1 == 1).map(|(_, name)| name))
            }
            (_, Value::Text(text)) => text.clone(),
            (_, Value::Words(words)) => join(words),
            (_, Value::Save(points)) => {
                join(points.iter().map(|point| format!("{} {}", point.seconds, point.changes)))
            }
            (_, Value::OutputLimits(limits)) => join(ClientClass::ALL.iter().map(|class| {
                let limit = limits[*class as usize];
                format!("{} {} {} {}", class.name(), limit.hard_bytes, limit.soft_bytes, limit.soft_seconds)
            })),
            (_, Value::Events(events)) => events.to_string(),
            (_, Value::Percentiles(list)) => join(list),
            (_, Value::Numbers(numbers)) => join(numbers),
            (kind, value) => unreachable!("{kind:?} never holds {value:?}"),
        }
    }

    /// What may be given, for help texts: `yes|no`, `0..65535`, `BYTES`.
    pub fn shape(&self) -> String {
        match self {
            Kind::Bool => "yes|no".into(),
            Kind::Integer { min, max } | Kind::Clamped { min, max } => {
                format!("{}..{}", bound(*min), bound(*max))
            }
            Kind::Auto { max } => format!("auto|1..{}", bound(*max)),
            Kind::Memory { .. } => "BYTES".into(),
            Kind::MemoryOrPercent => "BYTES|PERCENT%".into(),
            Kind::Octal => "OCTAL".into(),
            Kind::Choice(names) | Kind::Choices(names) => names.join("|"),
            Kind::Text => "TEXT".into(),
            Kind::Words { .. } => "WORD...".into(),
            Kind::Save => "SECONDS CHANGES...".into(),
            Kind::OutputLimits => "CLASS HARD SOFT SECONDS...".into(),
            Kind::Events => "[Ag$lshzxeKEtmdn]".into(),
            Kind::Percentiles => "PERCENTILE...".into(),
            Kind::Numbers { count, .. } => vec!["N"; *count].join(" "),
        }
    }
}

/// A bound in a help text: the type's own limits say nothing.
fn bound(bound: i64) -> String {
    match bound {
        i64::MIN | i64::MAX => String::new(),
        bound if bound == i64::from(i32::MAX) || bound == i64::from(i32::MIN) => String::new(),
        bound => bound.to_string(),
    }
}

fn join<T: std::fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    let mut joined = String::new();
    for item in items {
        let space = if joined.is_empty() { "" } else { " " };
        write!(joined, "{space}{item}").expect("writing to a String cannot fail");
    }
    joined
}

/// Decimal digits as `string2ll` of Redis takes them: no sign but `-`, no leading zero, no space.
fn integer(word: &str) -> Result<i64, String> {
    let canonical = |number: &i64| number.to_string() == word;
    let number = word.parse::<i64>().ok().filter(canonical);
    number.ok_or_else(|| "argument couldn't be parsed into an integer".into())
}

fn bounded(number: i64, min: i64, max: i64) -> Result<Value, String> {
    if (min..=max).contains(&number) { Ok(Value::Number(number)) } else { Err(between(min, max)) }
}

fn between(min: i64, max: i64) -> String {
    format!("argument must be between {min} and {max} inclusive")
}

/// Bytes with an optional unit; saturates where it would overflow.
pub(super) fn memory(word: &str) -> Option<u64> {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = word.split_at(digits);
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" => 1_000,
        "kb" => 1 << 10,
        "m" => 1_000_000,
        "mb" => 1 << 20,
        "g" => 1_000_000_000,
        "gb" => 1 << 30,
        _ => return None,
    };
    if number.is_empty() {
        return None;
    }
    Some(number.parse::<u64>().unwrap_or(u64::MAX).saturating_mul(factor))
}

fn memory_or_percent(word: &str) -> Result<Value, String> {
    if let Some(share) = word.strip_suffix('%').and_then(|share| integer(share).ok())
        && share >= 0
    {
        return match share {
            0..=100 => Ok(Value::Number(-share)),
            _ => Err("percentage argument must be less or equal to 100".into()),
        };
    }
    let bytes = memory(word).ok_or("argument must be a memory or percent value")?;
    Ok(Value::Number(i64::try_from(bytes).unwrap_or(i64::MAX)))
}

fn choice(names: &[&str], word: &str) -> Option<usize> {
    names.iter().position(|name| name.eq_ignore_ascii_case(word))
}

fn choices(names: &[&str], words: &[&str]) -> Result<Value, String> {
    let mut bits = 0;
    for word in words {
        let index = choice(names, word).ok_or_else(|| one_of(names))?;
        // The first name means "none of the others" and has no bit.
        bits |= (1 << index) & !1;
    }
    if words.is_empty() { Err(one_of(names)) } else { Ok(Value::Choices(bits)) }
}

fn one_of(names: &[&str]) -> String {
    format!("argument(s) must be one of the following: {}", names.join(", "))
}

fn save_points(words: &[&str]) -> Option<Value> {
    if !words.len().is_multiple_of(2) {
        return None;
    }
    let pair = |pair: &[&str]| {
        let seconds = pair[0].parse().ok().filter(|&seconds: &u64| seconds >= 1)?;
        Some(SavePoint { seconds, changes: pair[1].parse().ok()? })
    };
    words.chunks_exact(2).map(pair).collect::<Option<Vec<_>>>().map(Value::Save)
}

fn output_limits(words: &[&str], before: &Value) -> Result<Value, String> {
    if !words.len().is_multiple_of(4) {
        return Err("Wrong number of arguments in buffer limit configuration.".into());
    }
    let mut limits = match before {
        Value::OutputLimits(limits) => *limits,
        _ => Default::default(),
    };
    for class_limit in words.chunks_exact(4) {
        let class = ClientClass::named(class_limit[0])
            .ok_or("Invalid client class specified in buffer limit configuration.")?;
        let limit = (|| {
            let hard_bytes = memory(class_limit[1])?;
            let soft_bytes = memory(class_limit[2])?;
            Some(OutputLimit { hard_bytes, soft_bytes, soft_seconds: class_limit[3].parse().ok()? })
        })();
        limits[class as usize] =
            limit.ok_or("Error in hard, soft or soft_seconds setting in buffer limit configuration.")?;
    }
    Ok(Value::OutputLimits(limits))
}

fn percentiles(words: &[&str]) -> Result<Value, String> {
    let mut list = Vec::with_capacity(words.len());
    for word in words {
        let percentile: f64 =
            word.parse().map_err(|_| "Invalid latency-tracking-info-percentiles parameters".to_string())?;
        if !(0.0..=100.0).contains(&percentile) {
            let refusal = "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]";
            return Err(refusal.into());
        }
        list.push(percentile);
    }
    Ok(Value::Percentiles(list))
}
