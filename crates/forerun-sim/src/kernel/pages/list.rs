//! Pages on lists, linked through the pages themselves.

use crate::source::ObjectId;

/// No page.
const NONE: u32 = u32::MAX;

/// Where a page waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    /// In use, as far as anybody knows.
    Active,
    /// To be reclaimed from the tail; the head is the newest.
    Inactive,
    /// Of 2.4: inactive, and perhaps to be written before.
    Laundry,
}

/// A page that holds something.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) object: ObjectId,
    pub(crate) index: u64,
    /// It is being read; otherwise it is up to date.
    pub(crate) is_coming: bool,
    pub(crate) is_dirty: bool,
    pub(crate) is_written_back: bool,
    /// Somebody read or wrote it.
    pub(crate) is_used: bool,
    /// Somebody is about to copy from it.
    pub(crate) is_pinned: bool,
    pub(super) is_referenced: bool,
    pub(super) age: u8,
    pub(super) list: List,
    previous: u32,
    next: u32,
}

impl Page {
    pub(super) fn new(object: ObjectId, index: u64) -> Page {
        Page {
            object,
            index,
            is_coming: false,
            is_dirty: false,
            is_written_back: false,
            is_used: false,
            is_pinned: false,
            is_referenced: false,
            age: 0,
            list: List::Inactive,
            previous: NONE,
            next: NONE,
        }
    }

    /// Nobody may take its memory now.
    pub(super) fn is_held(&self) -> bool {
        self.is_coming || self.is_written_back || self.is_pinned
    }
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    head: u32,
    tail: u32,
    len: u64,
}

/// The slots and their lists.
#[derive(Debug)]
pub(super) struct Lists {
    pub(super) pages: Vec<Page>,
    ends: [Ends; 3],
}

impl Lists {
    pub(super) fn new() -> Lists {
        Lists { pages: Vec::new(), ends: [Ends { head: NONE, tail: NONE, len: 0 }; 3] }
    }

    pub(super) fn page(&mut self, slot: u32) -> &mut Page {
        &mut self.pages[slot as usize]
    }

    pub(super) fn len(&self, list: List) -> u64 {
        self.ends[list as usize].len
    }

    /// The page that has been on the list for longest.
    pub(super) fn tail(&self, list: List) -> Option<u32> {
        Some(self.ends[list as usize].tail).filter(|slot| *slot != NONE)
    }

    pub(super) fn push(&mut self, list: List, slot: u32) {
        let ends = &mut self.ends[list as usize];
        let next = std::mem::replace(&mut ends.head, slot);
        ends.len += 1;
        match next {
            NONE => ends.tail = slot,
            next => self.page(next).previous = slot,
        }
        let page = self.page(slot);
        (page.list, page.previous, page.next) = (list, NONE, next);
    }

    pub(super) fn remove(&mut self, slot: u32) {
        let page = self.page(slot);
        let (list, previous, next) = (page.list as usize, page.previous, page.next);
        match previous {
            NONE => self.ends[list].head = next,
            previous => self.page(previous).next = next,
        }
        match next {
            NONE => self.ends[list].tail = previous,
            next => self.page(next).previous = previous,
        }
        self.ends[list].len -= 1;
    }

    /// To the head of `list`.
    pub(super) fn shift(&mut self, list: List, slot: u32) {
        self.remove(slot);
        self.push(list, slot);
    }
}
