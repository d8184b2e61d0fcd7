//! The arena: cells of fixed size classes, carved from pages and named by 32-bit handles.
//! It knows sizes and addresses. It does not know what a cell holds, nor who holds its handle.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// Every size and address is a multiple of this many bytes.
const GRANULE: usize = 8;
/// The largest cell. A longer value lives on the heap, owned by its cell.
pub(crate) const CELL_BYTES_MAX: usize = 1024;
/// Cells are exact to a granule up to here; above, classes grow by an eighth.
const EXACT_BYTES_MAX: usize = 256;
/// A page has at most 2^13 granules: 64 KiB.
const PAGE_GRANULE_BITS: u32 = 13;
const PAGE_BYTES_MAX: usize = GRANULE << PAGE_GRANULE_BITS;
/// The first page of a class is one memory page, so an empty server is small.
const PAGE_BYTES_MIN: usize = 4096;
/// What is left of a handle names the page: 2^19 pages of 64 KiB are 32 GiB.
const PAGES_MAX: usize = 1 << (32 - PAGE_GRANULE_BITS);
/// Page records live in blocks, so that no growth copies more than a few KiB.
const BLOCK_PAGES: usize = 256;
const NO_PAGE: u32 = u32::MAX;
const NO_CELL: u16 = u16::MAX;

/// Names a cell: page number and granule within it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub(crate) struct Handle(u32);

impl Handle {
    /// Fills slots that are free; it may also be the name of a cell.
    pub(crate) const FILLER: Handle = Handle(0);

    fn new(page: u32, granule: u16) -> Handle {
        Handle(page << PAGE_GRANULE_BITS | u32::from(granule))
    }

    #[inline]
    fn page(self) -> usize {
        (self.0 >> PAGE_GRANULE_BITS) as usize
    }

    #[inline]
    fn granule(self) -> u16 {
        (self.0 & ((1 << PAGE_GRANULE_BITS) - 1)) as u16
    }
}

/// Size classes, smallest first, worked out at compile time.
struct Classes {
    /// Bytes of a cell of each class.
    bytes: [u16; CLASSES_MAX],
    /// The class of a size in granules.
    of: [u8; CELL_BYTES_MAX / GRANULE + 1],
}

const CLASSES_MAX: usize = 48;
/// One part in so many of all pages is kept for what is under way when the end comes near: 2 GiB.
const AMPLE_SHARE: usize = 16;

static CLASSES: Classes = {
    let mut classes = Classes { bytes: [0; CLASSES_MAX], of: [0; CELL_BYTES_MAX / GRANULE + 1] };
    let (mut class, mut size, mut granules) = (0, GRANULE, 0);
    while granules <= CELL_BYTES_MAX / GRANULE {
        classes.bytes[class] = size as u16;
        while granules * GRANULE <= size && granules <= CELL_BYTES_MAX / GRANULE {
            classes.of[granules] = class as u8;
            granules += 1;
        }
        class += 1;
        let step = if size < EXACT_BYTES_MAX { GRANULE } else { size / 8 / GRANULE * GRANULE };
        size = if size + step > CELL_BYTES_MAX { CELL_BYTES_MAX } else { size + step };
    }
    classes
};

/// The bytes a cell really takes that must hold `size` bytes.
#[inline]
pub(crate) fn cell_bytes(size: usize) -> usize {
    CLASSES.bytes[class_of(size)] as usize
}

#[inline]
fn class_of(size: usize) -> usize {
    debug_assert!(size <= CELL_BYTES_MAX, "larger values live on the heap");
    CLASSES.of[size.div_ceil(GRANULE)] as usize
}

/// What the arena knows of one page.
#[derive(Clone, Copy)]
struct Page {
    /// Neighbours in the list of pages of its class with room; `next` also links free page numbers.
    next: u32,
    previous: u32,
    /// The free cell last given back; each links to the one before it.
    free: u16,
    /// The first granule never used: pages are touched as they fill, not when they are made.
    fresh: u16,
    live: u16,
    class: u8,
    /// Size in units of `PAGE_BYTES_MIN`.
    units: u8,
}

impl Page {
    const NONE: Page =
        Page { next: NO_PAGE, previous: NO_PAGE, free: NO_CELL, fresh: 0, live: 0, class: 0, units: 0 };

    fn bytes(&self) -> usize {
        usize::from(self.units) * PAGE_BYTES_MIN
    }

    fn cell_bytes(&self) -> usize {
        usize::from(CLASSES.bytes[usize::from(self.class)])
    }

    /// Room at the end for one more cell that was never used.
    fn has_fresh(&self) -> bool {
        usize::from(self.fresh) * GRANULE + self.cell_bytes() <= self.bytes()
    }

    fn has_room(&self) -> bool {
        self.free != NO_CELL || self.has_fresh()
    }
}

/// The pages of one class.
#[derive(Clone, Copy)]
struct Class {
    /// First page with room.
    roomy: u32,
    /// Bytes of all its pages.
    reserved: usize,
}

/// Cells for one shard. Not shared between threads; may move to another one as a whole.
pub(crate) struct Arena {
    /// Where each page begins. Reserved whole, but zeroed memory costs nothing until touched, and a
    /// flat table spares each look-up a step.
    bases: Box<[*mut u8; PAGES_MAX]>,
    pages: Vec<Box<[Page; BLOCK_PAGES]>>,
    classes: [Class; CLASSES_MAX],
    /// Page numbers given out so far, and the list of those that came back.
    numbers: u32,
    free_numbers: u32,
    /// How many came back.
    free_count: u32,
    /// Page numbers that may be given out.
    pages_max: u32,
    used: usize,
    reserved: usize,
    #[cfg(debug_assertions)]
    live: std::collections::HashSet<Handle>,
}

// SAFETY: the arena owns its pages alone, and nothing in it is tied to the thread that made it.
unsafe impl Send for Arena {}

impl Arena {
    pub(crate) fn new() -> Arena {
        let bases = vec![std::ptr::null_mut(); PAGES_MAX].into_boxed_slice();
        Arena {
            bases: bases.try_into().expect("made with this length"),
            pages: Vec::new(),
            classes: [Class { roomy: NO_PAGE, reserved: 0 }; CLASSES_MAX],
            numbers: 0,
            free_numbers: NO_PAGE,
            free_count: 0,
            pages_max: PAGES_MAX as u32,
            used: 0,
            reserved: 0,
            #[cfg(debug_assertions)]
            live: Default::default(),
        }
    }

    /// Bytes of all cells in use.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// Bytes of all pages.
    pub(crate) fn reserved(&self) -> usize {
        self.reserved
    }

    /// Bytes of the arena's own records.
    pub(crate) fn overhead(&self) -> usize {
        self.pages.len() * size_of::<[Page; BLOCK_PAGES]>() + self.numbers as usize * size_of::<*mut u8>()
    }

    /// Whether `bytes` more would surely fit the handles that are left.
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        // Half, since a class may leave the end of each page unused and start with small pages.
        self.pages_left() / 2 > bytes / PAGE_BYTES_MAX + CLASSES_MAX
    }

    /// Whether so much room is left that nobody need ask for more than this.
    #[inline]
    pub(crate) fn is_ample(&self) -> bool {
        self.pages_left() > self.pages_max as usize / AMPLE_SHARE + 2 * CLASSES_MAX
    }

    #[inline]
    fn pages_left(&self) -> usize {
        (self.pages_max - self.numbers + self.free_count) as usize
    }

    /// Ends the room at so many bytes of full pages, or where it is already in use.
    pub(crate) fn limit(&mut self, bytes: usize) {
        let pages = (bytes / PAGE_BYTES_MAX).clamp(self.numbers as usize, PAGES_MAX);
        self.pages_max = pages as u32;
    }

    /// Where a cell is. The address holds until `free` or the arena's end.
    #[inline]
    pub(crate) fn address(&self, handle: Handle) -> NonNull<u8> {
        #[cfg(debug_assertions)]
        assert!(self.live.contains(&handle), "{handle:?} names a live cell");
        let base = self.bases[handle.page()];
        // SAFETY: handles are made by `allocate` alone, which placed this one inside its page; the
        // holder gives a handle up when it frees it (checked above in debug builds), and a page with
        // a live cell is never returned, so `base` is not null.
        unsafe { NonNull::new_unchecked(base.add(usize::from(handle.granule()) * GRANULE)) }
    }

    /// A cell of at least `size` bytes (at most `CELL_BYTES_MAX`). Its contents are arbitrary.
    #[inline]
    pub(crate) fn allocate(&mut self, size: usize) -> Handle {
        let class = class_of(size);
        let number = match self.classes[class].roomy {
            NO_PAGE => self.add_page(class),
            number => number,
        };
        let base = self.bases[number as usize];
        let page = self.page_mut(number);
        let cell = page.cell_bytes();
        let granule = if page.free != NO_CELL {
            let granule = page.free;
            // SAFETY: a free cell lies inside its page and holds the link that `free` wrote.
            page.free = unsafe { base.add(usize::from(granule) * GRANULE).cast::<u16>().read() };
            granule
        } else {
            let granule = page.fresh;
            page.fresh += (cell / GRANULE) as u16;
            granule
        };
        page.live += 1;
        if !page.has_room() {
            self.unlink(number);
        }
        self.used += cell;
        let handle = Handle::new(number, granule);
        #[cfg(debug_assertions)]
        assert!(self.live.insert(handle), "{handle:?} is given out once");
        handle
    }

    /// Gives a cell back. What it owned must have been taken out of it before.
    #[inline]
    pub(crate) fn free(&mut self, handle: Handle) {
        #[cfg(debug_assertions)]
        assert!(self.live.remove(&handle), "{handle:?} is given back once");
        let number = handle.page() as u32;
        let base = self.bases[handle.page()];
        let page = self.page_mut(number);
        let (had_room, cell) = (page.has_room(), page.cell_bytes());
        // SAFETY: the cell is inside its page (see `address`), at least one granule long, and by the
        // caller's word nobody reads it any more.
        unsafe {
            let address = base.add(usize::from(handle.granule()) * GRANULE);
            if cfg!(debug_assertions) {
                address.write_bytes(0xdd, cell);
            }
            address.cast::<u16>().write(page.free);
        }
        page.free = handle.granule();
        page.live -= 1;
        let empty = page.live == 0;
        self.used -= cell;
        if !had_room {
            self.link(number);
        }
        if empty {
            self.retire(number);
        }
    }

    /// Returns the pages that classes keep for their next cell, when no cell is left at all.
    pub(crate) fn trim(&mut self) {
        if self.used > 0 {
            return;
        }
        for class in 0..CLASSES_MAX {
            while self.classes[class].roomy != NO_PAGE {
                self.release(self.classes[class].roomy);
            }
        }
        self.pages.clear();
        (self.numbers, self.free_numbers, self.free_count) = (0, NO_PAGE, 0);
    }

    #[inline]
    fn page_mut(&mut self, number: u32) -> &mut Page {
        &mut self.pages[number as usize / BLOCK_PAGES][number as usize % BLOCK_PAGES]
    }

    /// A new page for a class whose pages are all full; as large as all of them, within bounds.
    #[cold]
    fn add_page(&mut self, class: usize) -> u32 {
        let number = match self.free_numbers {
            NO_PAGE => {
                let number = self.numbers;
                assert!(number < self.pages_max, "`has_room` is asked before a write");
                if number as usize == self.pages.len() * BLOCK_PAGES {
                    self.pages.push(Box::new([Page::NONE; BLOCK_PAGES]));
                }
                self.numbers += 1;
                number
            }
            number => {
                self.free_numbers = self.page_mut(number).next;
                self.free_count -= 1;
                number
            }
        };
        let bytes = self.classes[class].reserved.next_power_of_two().clamp(PAGE_BYTES_MIN, PAGE_BYTES_MAX);
        let layout = page_layout(bytes);
        // SAFETY: the layout has a size of at least `PAGE_BYTES_MIN`.
        let base = unsafe { alloc(layout) };
        if base.is_null() {
            handle_alloc_error(layout);
        }
        self.bases[number as usize] = base;
        let units = (bytes / PAGE_BYTES_MIN) as u8;
        *self.page_mut(number) = Page { class: class as u8, units, ..Page::NONE };
        self.classes[class].reserved += bytes;
        self.reserved += bytes;
        self.link(number);
        number
    }

    /// An empty page is returned, unless its class would have to ask for one at its next cell.
    #[cold]
    fn retire(&mut self, number: u32) {
        let page = self.page_mut(number);
        if page.next == NO_PAGE && page.previous == NO_PAGE {
            (page.free, page.fresh) = (NO_CELL, 0);
        } else {
            self.release(number);
        }
    }

    fn release(&mut self, number: u32) {
        self.unlink(number);
        let free_numbers = self.free_numbers;
        let page = self.page_mut(number);
        debug_assert_eq!(page.live, 0, "only an empty page is returned");
        let (bytes, class) = (page.bytes(), usize::from(page.class));
        page.next = free_numbers;
        self.free_numbers = number;
        self.free_count += 1;
        self.classes[class].reserved -= bytes;
        self.reserved -= bytes;
        let base = std::mem::replace(&mut self.bases[number as usize], std::ptr::null_mut());
        // SAFETY: `add_page` made it with this layout, and its number is free from here on.
        unsafe { dealloc(base, page_layout(bytes)) };
    }

    /// Puts a page first among those of its class with room.
    fn link(&mut self, number: u32) {
        let class = usize::from(self.page_mut(number).class);
        let first = std::mem::replace(&mut self.classes[class].roomy, number);
        let page = self.page_mut(number);
        (page.next, page.previous) = (first, NO_PAGE);
        if first != NO_PAGE {
            self.page_mut(first).previous = number;
        }
    }

    fn unlink(&mut self, number: u32) {
        let Page { next, previous, class, .. } = *self.page_mut(number);
        match previous {
            NO_PAGE => self.classes[usize::from(class)].roomy = next,
            previous => self.page_mut(previous).next = next,
        }
        if next != NO_PAGE {
            self.page_mut(next).previous = previous;
        }
        let page = self.page_mut(number);
        (page.next, page.previous) = (NO_PAGE, NO_PAGE);
    }
}

/// Aligned to memory pages: allocators then neither shift nor pad it.
fn page_layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, PAGE_BYTES_MIN).expect("a power of two below 64 KiB")
}

impl Drop for Arena {
    fn drop(&mut self) {
        for number in 0..self.numbers as usize {
            let base = self.bases[number];
            if !base.is_null() {
                let bytes = self.page_mut(number as u32).bytes();
                // SAFETY: `add_page` made it with this layout; the arena is going away.
                unsafe { dealloc(base, page_layout(bytes)) };
            }
        }
    }
}
