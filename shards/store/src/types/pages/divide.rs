//! A page divided in two, and two joined: every entry is copied once, in order, to where it belongs.
//! It does not know why an entry goes where it goes.

use super::page::Page;
use super::part::bytes_of;
use std::ops::Deref;

/// Texts are copied in steps of so many bytes where there is room: that needs no call.
const STEP: usize = 16;

impl<const P: usize, B: Deref<Target = [u8]>> Page<P, B> {
    /// Divides the entries in those that stay and those that go; `goes` is asked with the code and the
    /// bytes of each entry's first text.
    pub(super) fn split(&self, mut goes: impl FnMut(u8, &[u8]) -> bool) -> [Page<P, Vec<u8>>; 2] {
        let (tags, codes, texts) = self.parts();
        let mut chosen = vec![false; tags.len()];
        let (mut totals, mut at) = ([(0, 0); 2], 0);
        for (index, chosen) in chosen.iter_mut().enumerate() {
            let codes = codes_of::<P>(codes, index);
            *chosen = goes(codes[0], &texts[at..at + bytes_of(codes[0])]);
            let (size, side) = (size_of(codes), usize::from(*chosen));
            at += size;
            totals[side] = (totals[side].0 + 1, totals[side].1 + size);
        }
        let mut pages = totals.map(|(count, bytes)| Page::with_room(count, bytes));
        let [stay, go] = &mut pages;
        let mut filling = [Filling::of(stay), Filling::of(go)];
        let mut at = 0;
        for (index, chosen) in chosen.into_iter().enumerate() {
            let filling = &mut filling[usize::from(chosen)];
            at += filling.add(tags[index], codes_of::<P>(codes, index), texts, at);
        }
        pages
    }

    /// The entries of both.
    pub(super) fn merge(&self, other: &Self) -> Page<P, Vec<u8>> {
        let (mine, others) = (self.parts(), other.parts());
        let mut page = Page::with_room(mine.0.len() + others.0.len(), mine.2.len() + others.2.len());
        let mut filling = Filling::of(&mut page);
        for (tags, codes, texts) in [mine, others] {
            let mut at = 0;
            for (index, tag) in tags.iter().enumerate() {
                at += filling.add(*tag, codes_of::<P>(codes, index), texts, at);
            }
        }
        page
    }
}

/// A page on its way to be full.
struct Filling<'p> {
    tags: &'p mut [u8],
    codes: &'p mut [u8],
    texts: &'p mut [u8],
    count: usize,
    at: usize,
}

impl<'p> Filling<'p> {
    fn of<const P: usize>(page: &'p mut Page<P, Vec<u8>>) -> Filling<'p> {
        let (tags, codes, texts) = page.parts_mut();
        Filling { tags, codes, texts, count: 0, at: 0 }
    }

    /// Adds an entry whose texts are those at `from`; says how many bytes they have.
    #[inline(always)]
    fn add<const P: usize>(&mut self, tag: u8, codes: [u8; P], texts: &[u8], from: usize) -> usize {
        let (first, size) = (self.count * P, size_of(codes));
        self.tags[self.count] = tag;
        self.codes[first..first + P].copy_from_slice(&codes);
        copy(&mut self.texts[self.at..], &texts[from..], size);
        self.count += 1;
        self.at += size;
        size
    }
}

/// The codes of an entry.
#[inline(always)]
fn codes_of<const P: usize>(codes: &[u8], index: usize) -> [u8; P] {
    codes[index * P..index * P + P].try_into().expect("sliced to this length")
}

/// Bytes of an entry's texts.
#[inline(always)]
fn size_of<const P: usize>(codes: [u8; P]) -> usize {
    let mut size = 0;
    for code in codes {
        size += bytes_of(code);
    }
    size
}

/// Copies the first `size` bytes. What lies behind them may be overwritten: it is not written yet.
#[inline(always)]
fn copy(target: &mut [u8], source: &[u8], size: usize) {
    let whole = size.next_multiple_of(STEP);
    if whole > target.len() || whole > source.len() {
        return target[..size].copy_from_slice(&source[..size]);
    }
    let mut at = 0;
    while at < whole {
        let step: [u8; STEP] = source[at..at + STEP].try_into().expect("sliced to this length");
        target[at..at + STEP].copy_from_slice(&step);
        at += STEP;
    }
}
