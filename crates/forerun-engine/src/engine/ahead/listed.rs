//! Readahead of lists. A program has announced parts of many objects, in the order in which it will read
//! them. They may not be open yet.

use alloc::vec::Vec;

use crate::engine::Engine;
use crate::explain::{Class, ListReport, Why};
use crate::policy::{List, Reason, View, Window};
use crate::scheduler::{Payer, Queued};
use crate::types::*;

/// The most queued windows at which a list is asked for more. The readahead of its readers would otherwise
/// queue behind the rest of the list.
const WAITING_MAX: usize = 256;

impl Engine {
    /// A program will read the extents of `list`, in that order. They are read ahead with a bounded lead of
    /// its readers. Policies of other software ignore it.
    pub fn start_list(&mut self, now: Time, id: ListId, list: List) {
        let view = View::new(&self.cache, &self.device, &self.config, &self.pending, self.reads.count());
        self.policy.on_list(now, id, list, &view);
        self.drop_listed();
        self.audit();
    }

    /// `object`, which was opened just now, is `file` of the list.
    pub fn enter_list(&mut self, id: ListId, file: u32, object: ObjectId) {
        if let Some(lists) = self.policy.lists_mut() {
            lists.name(id, file, object);
        }
    }

    /// The next list and file of it that is to be read ahead: the driver answers at once with
    /// [`Engine::announce_listed`], or with [`Engine::refuse_listed`].
    pub fn poll_listed(&mut self) -> Option<(ListId, u32)> {
        if self.pending.count() >= WAITING_MAX { None } else { self.policy.lists_mut()?.next_wanted() }
    }

    /// `file` of the list is `object`, of `size` bytes. True if some of it is read ahead now. The object
    /// then counts as closed just now, unless it is open.
    pub fn announce_listed(&mut self, now: Time, id: ListId, file: u32, object: ObjectId, size: u64) -> bool {
        let Some(lists) = self.policy.lists_mut() else { return false };
        lists.name(id, file, object);
        let wanted = lists.take_wanted(id, file);
        let end = Extent::new(0, size).to_blocks().end();
        let within = wanted.iter().map(|extent| extent.intersection(&Extent::new(0, end)));
        let is_missing = |extent: &Extent| self.cache.first_missing(object, *extent, extent.len).is_some();
        let missing: Vec<Extent> = within.filter(is_missing).collect();
        if missing.is_empty() {
            self.forget_unknown(object);
            return false;
        }
        let is_expected = self.objects.announce(object, size);
        if is_expected {
            self.cache.expect(now, object);
        }
        for extent in missing {
            let reason = Reason { class: Class::Planned, why: Why::Advised };
            self.emit_window(now, object, &Window::new(extent, reason));
            let payer = Payer { client: ClientId::default(), reader: ReaderId::NOBODY };
            if !self.pending.push(Queued { object, extent, class: reason.class, payer }, &mut self.fair) {
                self.policy.on_lost(object, extent);
            }
        }
        self.forget_surplus(now);
        self.audit();
        is_expected
    }

    /// `file` of the list is not to be read ahead now.
    pub fn refuse_listed(&mut self, id: ListId, file: u32) {
        if let Some(lists) = self.policy.lists_mut() {
            lists.take_wanted(id, file);
        }
    }

    /// The next list that is over: it was read to its end, or there were too many.
    pub fn poll_ended(&mut self) -> Option<ListId> {
        self.policy.lists_mut()?.next_ended()
    }

    /// Whether the policy follows lists.
    pub fn follows_lists(&self) -> bool {
        self.policy.lists().is_some()
    }

    /// Each list, in the order in which they were started.
    pub fn lists(&self) -> impl Iterator<Item = ListReport> + '_ {
        self.policy.lists().into_iter().flat_map(|lists| lists.reports())
    }

    /// Whether a list that is followed has something of `object`.
    pub(crate) fn is_listed(&self, object: ObjectId) -> bool {
        self.policy.lists().is_some_and(|lists| lists.has(object))
    }

    /// Stops readahead for lists that are over, or not followed any more.
    pub(crate) fn drop_listed(&mut self) {
        while let Some(object) = self.policy.lists_mut().and_then(|lists| lists.next_dropped()) {
            if !self.objects.is_open(object) && !self.is_listed(object) {
                self.stop_readahead(object);
            }
        }
    }

    /// The engine knows nothing of `object`, so the driver can drop its number.
    fn forget_unknown(&mut self, object: ObjectId) {
        if self.objects.is_known(object) {
            return;
        }
        if let Some(lists) = self.policy.lists_mut() {
            lists.forget(object);
        }
        self.forgotten.push_back(object);
    }
}
