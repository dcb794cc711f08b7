//! Lists: parts of many objects, in the order in which a program has announced to read them.
//!
//! A list is one [`Plan`](super::plan::Plan) over all its objects ([`list`]). Like advice, it is believed
//! from the start. Any reader of its objects moves it on. The driver names its objects one by one, shortly
//! before a fetch.

mod list;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::explain::ListReport;
use crate::policy::census::Census;
use crate::policy::{Access, Grants};
use crate::types::{Extent, ListId, ObjectId, Time};
pub use list::List;

/// Lists at once; of more, one that is not followed gives way, else the one that rested longest.
const LISTS_MAX: usize = 16;

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    lists: BTreeMap<ListId, List>,
    /// Objects whose readahead for a list is not needed any more.
    dropped: Vec<ObjectId>,
    /// Lists that are over.
    ended: Vec<ListId>,
}

impl Lists {
    /// A program says that it will read `list`.
    pub(super) fn begin(
        &mut self,
        now: Time,
        id: ListId,
        mut list: List,
        reading: &mut Census,
        grants: Grants<'_>,
    ) {
        let rested = self.lists.iter().min_by_key(|(_, list)| (!list.is_suspended(), list.last_used));
        if self.lists.len() >= LISTS_MAX
            && let Some((rested, _)) = rested
        {
            self.end(*rested);
        }
        list.begin(now, reading, grants);
        self.lists.insert(id, list);
        self.end_done();
    }

    /// A read. True if it belongs to a list.
    pub(super) fn on_read(&mut self, access: &Access, reading: &mut Census, grants: Grants<'_>) -> bool {
        if self.lists.is_empty() {
            return false;
        }
        let mut is_listed = false;
        for list in self.lists.values_mut() {
            let was_suspended = list.is_suspended();
            is_listed |= list.on_read(access, reading, grants);
            if list.is_suspended() && !was_suspended {
                self.dropped.extend(list.ahead());
            }
        }
        self.end_done();
        is_listed
    }

    pub(super) fn on_lost(&mut self, object: ObjectId, extent: Extent) {
        self.lists.values_mut().for_each(|list| list.on_lost(object, extent));
    }

    /// Drops the state of the object; it may be named again.
    pub(crate) fn forget(&mut self, object: ObjectId) {
        self.lists.values_mut().for_each(|list| list.forget(object));
    }

    /// `object` is the file of `list`.
    pub(crate) fn name(&mut self, list: ListId, file: u32, object: ObjectId) {
        if let Some(list) = self.lists.get_mut(&list) {
            list.name(file, object);
        }
    }

    /// The next list and file of which something is to be fetched.
    pub(crate) fn next_wanted(&mut self) -> Option<(ListId, u32)> {
        self.lists.iter_mut().find_map(|(id, list)| Some((*id, list.next_wanted()?)))
    }

    /// The extents to fetch next of `list`, if they are of `file`.
    pub(crate) fn take_wanted(&mut self, list: ListId, file: u32) -> Vec<Extent> {
        self.lists.get_mut(&list).map(|list| list.take_wanted(file)).unwrap_or_default()
    }

    /// Whether a list that is followed has something of `object`.
    pub(crate) fn has(&self, object: ObjectId) -> bool {
        self.lists.values().any(|list| list.has(object))
    }

    /// The next object whose readahead should stop.
    pub(crate) fn next_dropped(&mut self) -> Option<ObjectId> {
        self.dropped.pop()
    }

    /// The next list that is over.
    pub(crate) fn next_ended(&mut self) -> Option<ListId> {
        self.ended.pop()
    }

    /// Each list, in the order in which they were started.
    pub(crate) fn reports(&self) -> impl Iterator<Item = ListReport> + '_ {
        self.lists.iter().map(|(id, list)| list.report(*id))
    }

    fn end_done(&mut self) {
        while let Some(id) = self.lists.iter().find(|(_, list)| list.is_done()).map(|(id, _)| *id) {
            self.end(id);
        }
    }

    fn end(&mut self, id: ListId) {
        let Some(list) = self.lists.remove(&id) else { return };
        self.dropped.extend(list.ahead());
        self.ended.push(id);
    }
}
