//! Commands made from their declarations, so that one is met on the day it is declared: its words in order,
//! options now and then, counts that fit what follows. What stands for a key or a value is told by who asks.

use crate::random::Random;
use spec::{Argument, ArgumentKind};

/// Makes the words of a command.
pub(crate) trait Fill {
    /// What a word is.
    type Word;

    fn token(&mut self, token: &str) -> Self::Word;
    fn key(&mut self, random: &mut Random) -> Self::Word;
    fn value(&mut self, argument: &Argument, random: &mut Random) -> Self::Word;
}

/// Adds what the declared arguments stand for.
pub(crate) fn add_all<F: Fill>(
    arguments: &[Argument],
    words: &mut Vec<F::Word>,
    fill: &mut F,
    random: &mut Random,
) {
    let mut counter = None;
    for argument in arguments {
        let times = add(argument, words, fill, random);
        if argument.name == "numkeys" || argument.name == "numfields" {
            counter = Some(words.len() - 1);
        } else if let Some(place) = counter.take() {
            words[place] = fill.token(&times.to_string());
        }
    }
}

/// Adds one of them; how many times it came.
fn add<F: Fill>(argument: &Argument, words: &mut Vec<F::Word>, fill: &mut F, random: &mut Random) -> usize {
    if argument.optional && random.percent(65) {
        return 0;
    }
    let times = if argument.multiple { random.within(1, 4) } else { 1 };
    for time in 0..times {
        if let Some(token) = argument.token
            && (time == 0 || argument.multiple_token)
        {
            words.push(fill.token(token));
        }
        match argument.kind {
            ArgumentKind::PureToken => {}
            ArgumentKind::OneOf if !argument.parts.is_empty() => {
                add(random.pick(argument.parts), words, fill, random);
            }
            ArgumentKind::Block => add_all(argument.parts, words, fill, random),
            ArgumentKind::Key => words.push(fill.key(random)),
            _ => words.push(fill.value(argument, random)),
        }
    }
    times
}
