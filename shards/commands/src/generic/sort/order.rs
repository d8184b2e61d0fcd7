//! The order of what is sorted, and which part of it is wanted. It knows elements and weights, not where
//! they come from.

use super::Word;
use super::options::Options;
use super::pattern::Pattern;
use std::cmp::Ordering;
use store::Kind;

/// A weight that had to be a number and is none.
#[derive(Debug)]
pub(super) struct NotANumber;

/// How elements of one kind are brought in order.
pub(super) struct Plan<'a> {
    /// Where weights come from that are not the elements themselves.
    pub(super) by: Option<Pattern<'a>>,
    unsorted: bool,
    alpha: bool,
    descending: bool,
    offset: i64,
    count: i64,
}

impl<'a> Plan<'a> {
    pub(super) fn new(options: &Options<'a>, kind: Kind) -> Plan<'a> {
        // A set has no order to keep: what is stored of it should not depend on how it is kept.
        let arbitrary = options.unsorted && kind == Kind::Set && options.store.is_some();
        let unsorted = options.unsorted && !arbitrary;
        Plan {
            by: options.by.filter(|_| !options.unsorted),
            unsorted,
            alpha: options.alpha || arbitrary,
            // A set has no order of its own that could be turned round.
            descending: options.descending && (!unsorted || kind != Kind::Set),
            offset: options.offset,
            count: options.count,
        }
    }

    /// The elements that are wanted, in order. Weights come in the order of the elements.
    pub(super) fn choose(
        &self,
        mut elements: Vec<Word>,
        weights: Option<Vec<Option<Word>>>,
    ) -> Result<Vec<Word>, NotANumber> {
        if self.unsorted {
            if self.descending {
                elements.reverse();
            }
        } else {
            elements = self.ordered(elements, weights)?;
        }
        let (start, end) = self.bounds(elements.len());
        elements.truncate(end);
        elements.drain(..start);
        Ok(elements)
    }

    fn ordered(
        &self,
        elements: Vec<Word>,
        weights: Option<Vec<Option<Word>>>,
    ) -> Result<Vec<Word>, NotANumber> {
        let directed = |order: Ordering| if self.descending { order.reverse() } else { order };
        if !self.alpha {
            let number = |weight: Option<&Word>| weight.map_or(Ok(0.0), |text| number(text));
            let scores: Vec<f64> = match &weights {
                None => elements.iter().map(|element| number(Some(element))).collect::<Result<_, _>>()?,
                Some(weights) => {
                    weights.iter().map(|weight| number(weight.as_ref())).collect::<Result<_, _>>()?
                }
            };
            let mut scored: Vec<(f64, Word)> = scores.into_iter().zip(elements).collect();
            scored.sort_by(|(a, this), (b, other)| directed(a.total_cmp(b).then_with(|| this.cmp(other))));
            return Ok(scored.into_iter().map(|(_, element)| element).collect());
        }
        match weights {
            None => {
                let mut elements = elements;
                elements.sort_by(|this, other| directed(this.cmp(other)));
                Ok(elements)
            }
            Some(weights) => {
                // What has no weight comes before what has one.
                let mut weighed: Vec<(Option<Word>, Word)> = weights.into_iter().zip(elements).collect();
                weighed.sort_by(|(a, _), (b, _)| directed(a.cmp(b)));
                Ok(weighed.into_iter().map(|(_, element)| element).collect())
            }
        }
    }

    /// The first wanted place and the one behind the last.
    fn bounds(&self, length: usize) -> (usize, usize) {
        let start = usize::try_from(self.offset.max(0)).unwrap_or(usize::MAX).min(length);
        let end = match usize::try_from(self.count) {
            Ok(count) => start.saturating_add(count).min(length),
            Err(_) => length,
        };
        (start, end)
    }
}

/// A number as C's strtod reads the whole text; nothing at all is 0.
fn number(text: &[u8]) -> Result<f64, NotANumber> {
    let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 0x0b).count();
    if text.is_empty() {
        return Ok(0.0);
    }
    // -0 and 0 are equal weights.
    resp::parse_f64(&text[blanks..]).map(|value| value + 0.0).ok_or(NotANumber)
}
