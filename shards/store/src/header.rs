//! The header word of an entry: what kind it is, how it is laid out, when it was last used.
//! Bits and arithmetic only; it touches no memory.

use crate::types::Big;

/// What type of value a key holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Kind {
    /// Text or an integer.
    String = 0,
    /// A list.
    List = 1,
    /// A set.
    Set = 2,
    /// A hash.
    Hash = 3,
    /// A sorted set.
    SortedSet = 4,
    /// A stream.
    Stream = 5,
}

impl Kind {
    const ALL: [Kind; 6] = [Kind::String, Kind::List, Kind::Set, Kind::Hash, Kind::SortedSet, Kind::Stream];

    /// As TYPE answers it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::String => "string",
            Kind::List => "list",
            Kind::Set => "set",
            Kind::Hash => "hash",
            Kind::SortedSet => "zset",
            Kind::Stream => "stream",
        }
    }
}

/// Where the value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Form {
    /// Eight bytes, aligned.
    Int = 0,
    /// The last bytes of the cell.
    Embedded = 1,
    /// A `Vec<u8>`, moved into the cell.
    Heap = 2,
    /// A `Box<Big>`: a collection that has outgrown its cell.
    Big = 3,
}

impl Form {
    /// Bytes of the value part, which lies in front of the key.
    const fn value_part(self) -> usize {
        match self {
            Form::Int => 8,
            Form::Embedded => 0,
            Form::Heap => size_of::<Vec<u8>>(),
            Form::Big => size_of::<Box<Big>>(),
        }
    }

    /// Whether the value part owns something on the heap.
    #[inline]
    pub(crate) fn owns(self) -> bool {
        matches!(self, Form::Heap | Form::Big)
    }
}

/// The parts of an entry are aligned to this many bytes, except for embedded texts.
pub(crate) const WORD: usize = 8;
/// Longer keys are boxed.
pub(crate) const KEY_INLINE_MAX: usize = 512;
/// The key length that says so.
pub(crate) const KEY_LONG: usize = 0xfff;

const FORM_AT: u32 = 4;
const RAW: u64 = 1 << 6;
const EXPIRY: u64 = 1 << 7;
const KEY_LEN_AT: u32 = 8;
const VALUE_LEN_AT: u32 = 20;
const LEN_MASK: u64 = 0xfff;
/// Where the key begins, in words: worked out once, so that a look-up need not.
const KEY_AT_AT: u32 = 32;
const KEY_AT_MASK: u64 = 0xf;
const ACCESS_AT: u32 = 40;
/// The access clock has 24 bits.
pub(crate) const ACCESS_MASK: u32 = 0xff_ffff;

/// ```text
/// bits 0..4 kind | 4..6 form | 6 raw (of a collection: its kind's own) | 7 expiry | 8..20 key length | 20..32 embedded value length
/// 32..36 key offset in words | 36..40 free | 40..64 access clock
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header(u64);

impl Header {
    /// The header of an entry. `value_len` counts embedded bytes alone.
    #[inline]
    pub(crate) fn new(
        kind: Kind,
        form: Form,
        raw: bool,
        expiry: bool,
        key_len: usize,
        value_len: usize,
        access: u32,
    ) -> Header {
        let key_len = if key_len <= KEY_INLINE_MAX { key_len } else { KEY_LONG };
        let key_at = (8 + usize::from(expiry) * 8 + form.value_part()) / 8;
        Header(
            kind as u64
                | (form as u64) << FORM_AT
                | if raw { RAW } else { 0 }
                | if expiry { EXPIRY } else { 0 }
                | (key_len as u64) << KEY_LEN_AT
                | (value_len as u64) << VALUE_LEN_AT
                | (key_at as u64) << KEY_AT_AT
                | u64::from(access & ACCESS_MASK) << ACCESS_AT,
        )
    }

    #[inline]
    pub(crate) fn from_bits(bits: u64) -> Header {
        Header(bits)
    }

    #[inline]
    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    #[inline]
    pub(crate) fn kind(self) -> Kind {
        Kind::ALL[(self.0 & 0xf) as usize]
    }

    #[inline]
    pub(crate) fn is_string(self) -> bool {
        self.0 & 0xf == Kind::String as u64
    }

    #[inline]
    pub(crate) fn form(self) -> Form {
        match self.0 >> FORM_AT & 3 {
            0 => Form::Int,
            1 => Form::Embedded,
            2 => Form::Heap,
            _ => Form::Big,
        }
    }

    #[inline]
    pub(crate) fn is_raw(self) -> bool {
        self.0 & RAW != 0
    }

    #[inline]
    pub(crate) fn has_expiry(self) -> bool {
        self.0 & EXPIRY != 0
    }

    /// Bytes of the key in the cell, or `KEY_LONG`.
    #[inline]
    pub(crate) fn key_len(self) -> usize {
        (self.0 >> KEY_LEN_AT & LEN_MASK) as usize
    }

    /// Bytes of an embedded value; 0 in other forms.
    #[inline]
    pub(crate) fn value_len(self) -> usize {
        (self.0 >> VALUE_LEN_AT & LEN_MASK) as usize
    }

    /// Offset of the key, or of the box that holds a long one.
    #[inline]
    pub(crate) fn key_at(self) -> usize {
        (self.0 >> KEY_AT_AT & KEY_AT_MASK) as usize * 8
    }

    /// Offset of the value part, where the form has one.
    #[inline]
    pub(crate) fn value_at(self) -> usize {
        8 + usize::from(self.has_expiry()) * 8
    }

    /// Bytes of the whole entry in its cell.
    #[inline]
    pub(crate) fn size(self) -> usize {
        self.key_at() + self.key_size() + self.value_len()
    }

    /// Bytes that the key takes in the cell.
    #[inline]
    pub(crate) fn key_size(self) -> usize {
        match self.key_len() {
            KEY_LONG => size_of::<Box<[u8]>>(),
            length => length,
        }
    }

    #[inline]
    pub(crate) fn access(self) -> u32 {
        (self.0 >> ACCESS_AT) as u32
    }

    #[inline]
    pub(crate) fn with_access(self, access: u32) -> Header {
        let kept = self.0 & ((1 << ACCESS_AT) - 1);
        Header(kept | u64::from(access & ACCESS_MASK) << ACCESS_AT)
    }

    #[inline]
    pub(crate) fn without_raw(self) -> Header {
        Header(self.0 & !RAW)
    }

    pub(crate) fn with_raw(self) -> Header {
        Header(self.0 | RAW)
    }

    /// The same entry with an integer where a box was: they take the same room.
    pub(crate) fn with_int_for_big(self) -> Header {
        debug_assert!(self.form() == Form::Big && Form::Int.value_part() == Form::Big.value_part());
        Header(self.0 & !(3 << FORM_AT) | (Form::Int as u64) << FORM_AT)
    }

    pub(crate) fn with_value_len(self, value_len: usize) -> Header {
        debug_assert!(value_len as u64 <= LEN_MASK && self.form() == Form::Embedded);
        Header(self.0 & !(LEN_MASK << VALUE_LEN_AT) | (value_len as u64) << VALUE_LEN_AT)
    }

    /// The same entry with the expiry word there or gone; the key moves by a word.
    pub(crate) fn with_expiry(self, expiry: bool) -> Header {
        let flag = if expiry { EXPIRY } else { 0 };
        let key_at = 8 + usize::from(expiry) * 8 + self.form().value_part();
        let kept = self.0 & !(EXPIRY | KEY_AT_MASK << KEY_AT_AT);
        Header(kept | flag | (key_at as u64 / 8) << KEY_AT_AT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_comes_back_and_leaves_the_others_alone() {
        for form in [Form::Int, Form::Embedded, Form::Heap, Form::Big] {
            for (raw, expiry) in [(false, false), (true, false), (false, true), (true, true)] {
                let value_len = if form == Form::Embedded { 300 } else { 0 };
                let kind = if form == Form::Big { Kind::SortedSet } else { Kind::String };
                let header = Header::new(kind, form, raw, expiry, 77, value_len, 0x12_3456);
                assert_eq!((header.kind(), header.is_string()), (kind, kind == Kind::String));
                assert_eq!((header.form(), header.is_raw(), header.has_expiry()), (form, raw, expiry));
                assert_eq!((header.key_len(), header.value_len()), (77, value_len));
                assert_eq!(header.access(), 0x12_3456);
                assert_eq!(header.key_at(), header.value_at() + form.value_part());
                assert_eq!(header.with_access(0xff_ffff).with_access(0x12_3456), header);
                assert_eq!(header.with_expiry(!expiry).with_expiry(expiry), header);
                assert_eq!(header.with_expiry(true).size(), header.with_expiry(false).size() + 8);
            }
        }
    }

    #[test]
    fn a_long_key_takes_the_room_of_its_box() {
        let header = Header::new(Kind::String, Form::Int, false, false, 100_000, 0, 0);
        assert_eq!((header.key_len(), header.size()), (KEY_LONG, 8 + 8 + 16));
    }
}
