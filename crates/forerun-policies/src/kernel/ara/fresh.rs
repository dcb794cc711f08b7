//! Pages of chunks that were not cached before and that nobody has read yet:
//! which class brought them, and which carry the mark.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{AraClass, AraEvent, Shared};
use forerun_engine::ObjectId;

/// A page leaves when it is read, lost, or its object forgotten.
#[derive(Debug, Default)]
pub(super) struct Fresh {
    pages: BTreeMap<(ObjectId, u64), Page>,
}

#[derive(Clone, Copy, Debug)]
struct Page {
    class: AraClass,
    is_marked: bool,
}

impl Fresh {
    pub(super) fn insert(&mut self, object: ObjectId, page: u64, class: AraClass, is_marked: bool) {
        self.pages.insert((object, page), Page { class, is_marked });
    }

    pub(super) fn remove_run(&mut self, object: ObjectId, start: u64, count: u64) {
        let run = (object, start)..(object, start.saturating_add(count));
        let gone: Vec<_> = self.pages.range(run).map(|(page, _)| *page).collect();
        for page in gone {
            self.pages.remove(&page);
        }
    }

    pub(super) fn forget(&mut self, object: ObjectId) {
        self.pages.retain(|(owner, _), _| *owner != object);
    }
}

impl Shared {
    /// A page is about to be looked for. Whether it carried the mark, which it
    /// then does no more.
    pub(super) fn on_page(&mut self, object: ObjectId, page: u64, is_present: bool) -> bool {
        if is_present {
            return self.take(object, page);
        }
        // Its mark was lost with it.
        self.fresh.pages.remove(&(object, page));
        self.events.add(AraClass::None, AraEvent::CacheMiss, 1);
        false
    }

    /// The page is read, perhaps as the first of a chunk that it led to.
    pub(super) fn take(&mut self, object: ObjectId, page: u64) -> bool {
        let Some(Page { class, is_marked }) = self.fresh.pages.remove(&(object, page)) else { return false };
        self.events.add(class, AraEvent::ReadaheadHit, 1);
        if is_marked {
            self.events.add(class, AraEvent::LookaheadHit, 1);
        }
        is_marked
    }
}
