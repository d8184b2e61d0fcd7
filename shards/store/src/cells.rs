//! Cells: how an entry (key, value, expiry, access clock) is laid out in the arena's memory.
//! It knows no tables: a handle is all it is given, and all it gives.
//!
//! ```text
//! header 8 | expiry 8, if any | value part: int 8, box 8, heap buffer 24, embedded 0 | key | embedded value
//! ```

use crate::arena::{Arena, CELL_BYTES_MAX, Handle, cell_bytes};
use crate::draft::{Draft, Payload, Taken, embeds};
use crate::frequency::{self, Frequency};
use crate::graves::Graves;
use crate::header::{Form, Header, KEY_INLINE_MAX, KEY_LONG, Kind, WORD};
use crate::room::{fit, grow, zeros};
use crate::shared::{SHARED_BYTES_MIN, SharedText};
use crate::short;
use crate::text::Text;
use crate::types::Big;
use crate::view::View;

/// All entries of a shard, in all databases.
pub(crate) struct Cells {
    arena: Arena,
    /// Bytes of all that is on the heap, what is buried included.
    heap_bytes: usize,
    /// How many cells own something on the heap: while none does, all can be dropped unseen.
    owners: usize,
    graves: Graves,
    frequency: Frequency,
}

impl Cells {
    /// No cells. The seed is for chance in counting uses.
    pub(crate) fn new(seed: u64) -> Cells {
        Cells {
            arena: Arena::new(),
            heap_bytes: 0,
            owners: 0,
            graves: Graves::default(),
            frequency: Frequency::new(seed),
        }
    }

    /// Uses that are counted are counted so from now on.
    pub(crate) fn count_uses(&mut self, log_factor: u32, decay_minutes: u32) {
        self.frequency.set(log_factor, decay_minutes);
    }

    pub(crate) fn arena(&self) -> &Arena {
        &self.arena
    }

    pub(crate) fn arena_mut(&mut self) -> &mut Arena {
        &mut self.arena
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.heap_bytes
    }

    pub(crate) fn owners(&self) -> usize {
        self.owners
    }

    /// The entry in a cell, to read.
    #[inline]
    pub(crate) fn view(&self, handle: Handle) -> View<'_> {
        // SAFETY: the address is that of a live cell, written before its handle was given out.
        unsafe { View::new(self.arena.address(handle)) }
    }

    /// Whether the entry has this key.
    #[inline]
    pub(crate) fn holds(&self, handle: Handle, key: &[u8]) -> bool {
        let view = self.view(handle);
        let header = view.header();
        if key.len() > KEY_INLINE_MAX {
            return view.has_long_key(key);
        }
        header.key_len() == key.len() && view.embedded_key(header) == key
    }

    /// Whether the entry has this key, if that can be told at once; else no.
    #[inline]
    pub(crate) fn holds_short(&self, handle: Handle, key: &[u8]) -> bool {
        let view = self.view(handle);
        let header = view.header();
        header.key_len() == key.len()
            && key.len() <= short::EQUAL_BYTES_MAX
            && short::equal(view.embedded_key(header), key)
    }

    /// Starts loading the entry's first line.
    #[inline]
    pub(crate) fn prefetch(&self, handle: Handle) {
        crate::prefetch::prefetch(self.arena.address(handle).as_ptr());
    }

    /// Sets the access clock.
    #[inline]
    pub(crate) fn touch(&mut self, handle: Handle, access: u32) {
        let header = self.view(handle).header();
        // Most look-ups come within the same second: sparing the store keeps the line clean.
        if header.access() != access {
            let access = if frequency::is_clock(access) { self.used(header, access) } else { access };
            self.set_header(handle, header.with_access(access));
        }
    }

    /// The access clock of an entry that is used once more, where frequencies are noted.
    #[cold]
    pub(crate) fn used(&mut self, header: Header, clock: u32) -> u32 {
        self.frequency.used(header.access(), clock)
    }

    /// Writes a new entry.
    #[inline]
    pub(crate) fn write(&mut self, draft: Draft<'_>) -> Handle {
        let header = draft.header();
        let handle = self.arena.allocate(header.size());
        self.fill(handle, header, draft);
        handle
    }

    /// Writes an entry over another, in place where the cell's class allows. The old handle is dead
    /// if another one is returned.
    pub(crate) fn overwrite(&mut self, handle: Handle, draft: Draft<'_>) -> Handle {
        let header = draft.header();
        let old = self.view(handle).header();
        self.drop_owned(handle, old);
        let target = self.move_cell(handle, old.size(), header.size(), 0);
        self.fill(target, header, draft);
        target
    }

    /// Writes a value over another where all stays in its place: the usual case of an overwrite.
    /// Whether it is so.
    #[inline]
    pub(crate) fn overwrite_in_place(
        &mut self,
        handle: Handle,
        payload: &Payload<'_>,
        expiry: Option<i64>,
        access: u32,
    ) -> bool {
        let header = self.view(handle).header();
        let at = self.arena.address(handle).as_ptr();
        if header.has_expiry() != expiry.is_some() || !header.is_string() {
            return false;
        }
        // SAFETY: the header says where the value is, and that it has the very size of the new one;
        // the texts of callers are not in the arena.
        unsafe {
            match payload {
                Payload::Int(value) if header.form() == Form::Int => {
                    at.add(header.value_at()).cast::<i64>().write(*value);
                }
                Payload::Text(text)
                    if header.form() == Form::Embedded && header.value_len() == text.len() =>
                {
                    short::copy(text, at.add(header.key_at() + header.key_size()));
                }
                _ => return false,
            }
            if let Some(expiry) = expiry {
                at.add(WORD).cast::<i64>().write(expiry);
            }
        }
        self.set_header(handle, header.with_access(access).without_raw());
        true
    }

    /// Frees an entry and what it owns.
    pub(crate) fn free(&mut self, handle: Handle) {
        let header = self.view(handle).header();
        self.drop_owned(handle, header);
        self.arena.free(handle);
    }

    /// Sets or clears the expiry. The old handle is dead if another one is returned.
    pub(crate) fn set_expiry(&mut self, handle: Handle, expiry: Option<i64>) -> Handle {
        let old = self.view(handle).header();
        let size = old.size();
        let target = match (old.has_expiry(), expiry.is_some()) {
            (false, true) if old.form() == Form::Embedded && size + WORD > CELL_BYTES_MAX => {
                return self.spill(handle, old.value_len(), expiry, old.is_raw());
            }
            (false, true) => {
                let target = self.move_cell(handle, size, size + WORD, size);
                let at = self.arena.address(target).as_ptr();
                // SAFETY: the cell has room for `size + WORD` bytes, of which the first `size` are
                // the entry; all behind the header moves up by a word.
                unsafe { std::ptr::copy(at.add(WORD), at.add(2 * WORD), size - WORD) };
                self.set_header(target, old.with_expiry(true));
                target
            }
            (true, false) => {
                let at = self.arena.address(handle).as_ptr();
                // SAFETY: the entry has `size` bytes, at least two words of them: header and expiry.
                unsafe { std::ptr::copy(at.add(2 * WORD), at.add(WORD), size - 2 * WORD) };
                self.set_header(handle, old.with_expiry(false));
                self.move_cell(handle, size, size - WORD, size - WORD)
            }
            _ => handle,
        };
        if let Some(expiry) = expiry {
            let at = self.arena.address(target).as_ptr();
            // SAFETY: the header says the expiry is there, at the second word.
            unsafe { at.add(WORD).cast::<i64>().write(expiry) };
        }
        target
    }

    /// Makes the value a text of `length` bytes that can be edited with [`Cells::value_mut`]: what was
    /// there, cut or followed by zeros. It is "raw" from then on, as in Redis. The old handle is dead
    /// if another one is returned.
    pub(crate) fn resize_text(&mut self, handle: Handle, length: usize) -> Handle {
        let handle = self.textual(handle);
        let header = self.view(handle).header();
        self.set_header(handle, header.with_raw());
        self.resize(handle, length, grow)
    }

    /// The same of a packed collection, which is expected to change often and a little.
    #[inline]
    pub(crate) fn resize_packed(&mut self, handle: Handle, length: usize) -> Handle {
        self.resize(handle, length, fit)
    }

    #[inline]
    fn resize(&mut self, handle: Handle, length: usize, fit: fn(&mut Vec<u8>, usize)) -> Handle {
        let header = self.view(handle).header();
        if header.form() == Form::Big {
            self.edit_shared(handle, |text| text.resize(length, fit));
            return handle;
        }
        if header.form() == Form::Embedded {
            let key_bytes = header.size() - header.key_at() - header.value_len();
            if embeds(key_bytes, header.has_expiry(), length) {
                let resized = header.with_value_len(length);
                let kept = header.size().min(resized.size());
                let target = self.move_cell(handle, header.size(), resized.size(), kept);
                let at = self.arena.address(target).as_ptr();
                // SAFETY: the cell has room for the resized entry, of which `kept` bytes are written.
                unsafe { at.add(kept).write_bytes(0, resized.size() - kept) };
                self.set_header(target, resized);
                return target;
            }
            let expiry = self.view(handle).expiry();
            return self.spill(handle, length, expiry, header.is_raw());
        }
        let buffer = self.buffer_mut(handle);
        let before = buffer.capacity();
        if length > buffer.len() {
            fit(buffer, length);
            buffer.resize(length, 0);
        } else {
            buffer.truncate(length);
            fit(buffer, length);
        }
        let after = buffer.capacity();
        self.heap_bytes = self.heap_bytes - before + after;
        self.share_large(handle)
    }

    /// Moves a packed collection from the heap back into its cell, if that is where it would be by now
    /// and with room to grow.
    pub(crate) fn settle_packed(&mut self, handle: Handle) -> Handle {
        let view = self.view(handle);
        let (header, length) = (view.header(), view.len());
        if header.form() != Form::Heap || length > CELL_BYTES_MAX / 4 {
            return handle;
        }
        let (key, expiry) = (view.key().to_vec(), view.expiry());
        let (raw, access) = (header.is_raw(), header.access());
        let payload = self.take_buffer(handle);
        self.overwrite(handle, Draft { key: &key, kind: header.kind(), payload, raw, expiry, access })
    }

    /// The big collection of an entry. Whoever changes it says so with [`Cells::resized`].
    #[inline]
    pub(crate) fn big_mut(&mut self, handle: Handle) -> &mut Big {
        let header = self.view(handle).header();
        assert!(header.form() == Form::Big, "the caller looked");
        let at = self.arena.address(handle).as_ptr();
        // SAFETY: a value part of form `Big` is a box of one; `&mut self` makes us alone.
        unsafe { &mut *at.add(header.value_at()).cast::<Box<Big>>() }
    }

    /// Something that a cell owns has got another size.
    #[inline]
    pub(crate) fn resized(&mut self, before: usize, after: usize) {
        self.heap_bytes = self.heap_bytes - before + after;
    }

    /// Appends to a text. The old handle is dead if another one is returned.
    pub(crate) fn append_text(&mut self, handle: Handle, bytes: &[u8]) -> Handle {
        let handle = self.textual(handle);
        let length = self.view(handle).len();
        if self.view(handle).header().form() == Form::Heap {
            let header = self.view(handle).header();
            self.set_header(handle, header.with_raw());
            let buffer = self.buffer_mut(handle);
            let before = buffer.capacity();
            if length + bytes.len() > before {
                grow(buffer, length + bytes.len());
            }
            // No zeros first: an append of 100 MB should write them once.
            buffer.extend_from_slice(bytes);
            let after = buffer.capacity();
            self.heap_bytes = self.heap_bytes - before + after;
            return self.share_large(handle);
        }
        if self.view(handle).header().form() == Form::Big {
            self.edit_shared(handle, |text| text.append(bytes, grow));
            return handle;
        }
        let target = self.resize_text(handle, length + bytes.len());
        self.value_mut(target)[length..].copy_from_slice(bytes);
        target
    }

    /// The bytes of a text that is not an integer, or of a packed collection.
    pub(crate) fn value_mut(&mut self, handle: Handle) -> &mut [u8] {
        let header = self.view(handle).header();
        match header.form() {
            Form::Embedded => {
                let at = self.arena.address(handle).as_ptr();
                let (start, length) = (header.size() - header.value_len(), header.value_len());
                // SAFETY: an embedded value is the end of the entry, and `&mut self` makes us alone.
                unsafe { std::slice::from_raw_parts_mut(at.add(start), length) }
            }
            Form::Heap => self.buffer_mut(handle),
            // A shared one is copied: nobody's else changes.
            Form::Big => match self.big_mut(handle) {
                Big::Text(text) => text.as_mut_slice(),
                _ => unreachable!("it is text or packed: the caller looked"),
            },
            Form::Int => unreachable!("it is text or packed: the caller looked"),
        }
    }

    /// Sets an integer where one already is.
    #[inline]
    pub(crate) fn set_int(&mut self, handle: Handle, value: i64) {
        let header = self.view(handle).header();
        assert!(header.form() == Form::Int, "the caller looked");
        let at = self.arena.address(handle).as_ptr();
        // SAFETY: the header says the value part is an integer, aligned to a word.
        unsafe { at.add(header.value_at()).cast::<i64>().write(value) };
    }

    /// Takes an entry's value out as an owned one and frees the cell.
    pub(crate) fn take(&mut self, handle: Handle) -> Taken {
        let view = self.view(handle);
        let header = view.header();
        let (expiry, raw, access) = (view.expiry(), header.is_raw(), header.access());
        let payload = match header.form() {
            Form::Heap => self.take_buffer(handle),
            Form::Big => Payload::Big(self.take_big(handle)),
            Form::Int | Form::Embedded => match view.text() {
                Text::Int(value) => Payload::Int(value),
                Text::Bytes(bytes) => Payload::Buffer(bytes.to_vec()),
            },
        };
        self.free(handle);
        Taken { kind: header.kind(), payload, raw, expiry, access }
    }

    /// Takes a buffer that was no value of ours, to free it by and by.
    pub(crate) fn bury_spent(&mut self, buffer: Vec<u8>) {
        self.heap_bytes += self.graves.bury_spent(buffer);
    }

    /// Frees what is buried a slice at a time; returns how many slices of `budget` were not needed.
    pub(crate) fn dig(&mut self, mut budget: usize) -> usize {
        while budget > 0 {
            let Some(bytes) = self.graves.dig() else { break };
            self.heap_bytes -= bytes;
            budget -= 1;
        }
        budget
    }

    /// Something waits to be freed.
    #[inline]
    pub(crate) fn has_buried(&self) -> bool {
        !self.graves.is_empty()
    }

    /// How many large values wait to be freed.
    pub(crate) fn buried(&self) -> usize {
        self.graves.len()
    }

    /// Large values that wait to be freed.
    pub(crate) fn graves(&mut self) -> &mut Graves {
        &mut self.graves
    }

    /// The cell for an entry that changes size: the same one where the class stays, else another that
    /// begins with a copy of the first `kept` bytes.
    #[inline]
    fn move_cell(&mut self, handle: Handle, size: usize, new_size: usize, kept: usize) -> Handle {
        if cell_bytes(size) == cell_bytes(new_size) {
            return handle;
        }
        let target = self.arena.allocate(new_size);
        let (from, to) = (self.arena.address(handle).as_ptr(), self.arena.address(target).as_ptr());
        // SAFETY: two live cells do not overlap, and `kept` is within both sizes.
        unsafe { std::ptr::copy_nonoverlapping(from, to, kept) };
        self.arena.free(handle);
        target
    }

    #[inline]
    fn set_header(&mut self, handle: Handle, header: Header) {
        let at = self.arena.address(handle).as_ptr();
        // SAFETY: every cell begins with a header word, aligned.
        unsafe { at.cast::<u64>().write(header.bits()) };
    }

    /// Writes every part of an entry into a cell that has room for it and owns nothing.
    #[inline]
    fn fill(&mut self, handle: Handle, header: Header, draft: Draft<'_>) {
        let at = self.arena.address(handle).as_ptr();
        // SAFETY: the cell was made for `header.size()` bytes, and the offsets of every part follow
        // from the same header; the words are aligned since cells are; sources are not in the arena.
        unsafe {
            at.cast::<u64>().write(header.bits());
            if let Some(expiry) = draft.expiry {
                at.add(WORD).cast::<i64>().write(expiry);
            }
            let (key_at, value_at) = (at.add(header.key_at()), at.add(header.value_at()));
            if header.key_len() == KEY_LONG {
                key_at.cast::<Box<[u8]>>().write(draft.key.into());
                self.owners += 1;
                self.heap_bytes += draft.key.len();
            } else {
                short::copy(draft.key, key_at);
            }
            let embedded_at = key_at.add(header.key_size());
            match draft.payload {
                Payload::Int(value) => value_at.cast::<i64>().write(value),
                Payload::Text(bytes) if header.form() == Form::Embedded => short::copy(bytes, embedded_at),
                Payload::Buffer(bytes) if header.form() == Form::Embedded => short::copy(&bytes, embedded_at),
                Payload::Text(bytes) => self.own(value_at, bytes.to_vec()),
                Payload::Buffer(bytes) => self.own(value_at, bytes),
                Payload::Big(big) => {
                    self.owners += 1;
                    self.heap_bytes += big.memory_bytes();
                    value_at.cast::<Box<Big>>().write(big);
                }
            }
        }
    }

    /// Moves a buffer into a value part.
    ///
    /// # Safety
    /// `at` is the value part of a live cell of form `Heap` that owns no buffer.
    unsafe fn own(&mut self, at: *mut u8, buffer: Vec<u8>) {
        self.owners += 1;
        self.heap_bytes += buffer.capacity();
        // SAFETY: by the caller's word it is a buffer's place, aligned to a word.
        unsafe { at.cast::<Vec<u8>>().write(buffer) };
    }

    fn buffer_mut(&mut self, handle: Handle) -> &mut Vec<u8> {
        let header = self.view(handle).header();
        assert!(header.form() == Form::Heap, "the caller looked");
        let at = self.arena.address(handle).as_ptr();
        // SAFETY: a value part of form `Heap` is a buffer; `&mut self` makes us alone.
        unsafe { &mut *at.add(header.value_at()).cast::<Vec<u8>>() }
    }

    /// Takes the buffer out, leaving an empty one that owns nothing.
    fn take_buffer(&mut self, handle: Handle) -> Payload<'static> {
        let buffer = std::mem::take(self.buffer_mut(handle));
        self.heap_bytes -= buffer.capacity();
        Payload::Buffer(buffer)
    }

    /// Takes the box out, leaving an integer of no meaning.
    fn take_big(&mut self, handle: Handle) -> Box<Big> {
        let header = self.view(handle).header();
        assert!(header.form() == Form::Big, "the caller looked");
        let at = self.arena.address(handle).as_ptr();
        // SAFETY: a value part of form `Big` is a box; it is read out once, as the header changes now.
        let big = unsafe { at.add(header.value_at()).cast::<Box<Big>>().read() };
        self.set_header(handle, header.with_int_for_big());
        self.owners -= 1;
        self.heap_bytes -= big.memory_bytes();
        big
    }

    /// Drops what a cell owns on the heap. Its value part and long key are garbage afterwards.
    #[inline]
    fn drop_owned(&mut self, handle: Handle, header: Header) {
        if header.form().owns() || header.key_len() == KEY_LONG {
            self.drop_owned_slowly(handle, header);
        }
    }

    #[cold]
    fn drop_owned_slowly(&mut self, handle: Handle, header: Header) {
        let at = self.arena.address(handle).as_ptr();
        if header.key_len() == KEY_LONG {
            // SAFETY: the header says a boxed key is there; it is read out once, before the cell dies.
            let key = unsafe { at.add(header.key_at()).cast::<Box<[u8]>>().read() };
            self.owners -= 1;
            self.heap_bytes -= key.len();
        }
        if header.form() == Form::Heap {
            // SAFETY: as above, for the buffer.
            let buffer = unsafe { at.add(header.value_at()).cast::<Vec<u8>>().read() };
            self.owners -= 1;
            self.heap_bytes -= self.graves.bury_buffer(buffer);
        }
        if header.form() == Form::Big {
            // SAFETY: as above, for the box.
            let big = unsafe { at.add(header.value_at()).cast::<Box<Big>>().read() };
            self.owners -= 1;
            self.heap_bytes -= self.graves.bury_big(big);
        }
    }

    /// Changes a large text.
    fn edit_shared(&mut self, handle: Handle, edit: impl FnOnce(&mut SharedText)) {
        let big = self.big_mut(handle);
        let before = big.memory_bytes();
        match big {
            Big::Text(text) => edit(text),
            _ => unreachable!("a collection is not edited as a text"),
        }
        let after = big.memory_bytes();
        self.resized(before, after);
    }

    /// A string on the heap that has become large is kept so that it can be shared. The old handle is dead
    /// if another one is returned.
    fn share_large(&mut self, handle: Handle) -> Handle {
        let view = self.view(handle);
        let header = view.header();
        if view.len() < SHARED_BYTES_MIN || header.form() != Form::Heap || !header.is_string() {
            return handle;
        }
        let (key, expiry, access) = (view.key().to_vec(), view.expiry(), header.access());
        let payload = self.take_buffer(handle).shared(Kind::String);
        self.overwrite(handle, Draft { key: &key, kind: Kind::String, payload, raw: true, expiry, access })
    }

    /// Turns an integer into the text it stands for.
    fn textual(&mut self, handle: Handle) -> Handle {
        let view = self.view(handle);
        let Text::Int(value) = view.text() else { return handle };
        let (header, expiry) = (view.header(), view.expiry());
        let (key, digits) = (view.key().to_vec(), value.to_string());
        let payload = Payload::Text(digits.as_bytes());
        let (kind, access) = (header.kind(), header.access());
        self.overwrite(handle, Draft { key: &key, kind, payload, raw: true, expiry, access })
    }

    /// Moves an embedded value to the heap: with this length or this expiry it has no room in a cell.
    fn spill(&mut self, handle: Handle, length: usize, expiry: Option<i64>, raw: bool) -> Handle {
        let view = self.view(handle);
        let key = view.key().to_vec();
        let bytes = view.bytes();
        let mut buffer = zeros(length);
        let kept = length.min(bytes.len());
        buffer[..kept].copy_from_slice(&bytes[..kept]);
        let (kind, access) = (view.header().kind(), view.header().access());
        let payload = Payload::Buffer(buffer).shared(kind);
        self.overwrite(handle, Draft { key: &key, kind, payload, raw, expiry, access })
    }
}
