//! The follower reads ahead along known orders: advice, profiles and lists. It also keeps the announced
//! habits of readers.
//!
//! [`plan`] fetches a known order ahead of its readers. [`route`] has its extents, by their order and by
//! their offset. [`lists`] are plans across objects.

mod grant;
mod lists;
mod plan;
mod route;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::census::{Census, period};
use super::{Access, Hint, Said, Window};
use crate::explain::StreamReport;
use crate::types::{Extent, ListId, ObjectId, ReaderId, Time};
pub(crate) use grant::{Grant, Grants};
pub use lists::List;
pub(crate) use lists::Lists;
use plan::{Origin, Plan};
use route::Route;

/// An announced habit of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Habit {
    Sequential,
    Random,
}

/// See the module's page. A habit is that of an open reader, a plan that of an open
/// object.
#[derive(Debug, Default)]
pub(super) struct Follower {
    plans: BTreeMap<ObjectId, Plan>,
    habits: BTreeMap<(ObjectId, ReaderId), Habit>,
    pub(super) lists: Lists,
    /// Those that are read.
    reading: Census,
    /// The queued windows of a plan are out of date.
    dropped: bool,
}

impl Follower {
    /// Reads are announced.
    pub(super) fn apply_hint(
        &mut self,
        said: &Said,
        hint: &Hint<'_>,
        grants: Grants<'_>,
        windows: &mut Vec<Window>,
    ) {
        let habit = match *hint {
            Hint::WillNeed(extents) => {
                return self.plan(said, extents, Origin::Advice, grants, windows);
            }
            Hint::Learned(extents) => {
                return self.plan(said, extents, Origin::Profile, grants, windows);
            }
            Hint::Expected(extents, bytes) => {
                // An object that is not open yet has no reader, so it does not count.
                let grant = grants(self.reading.count());
                if let Some(plan) = self.plan_of(said, extents, Origin::Profile) {
                    plan.order(bytes, &grant, windows);
                }
                return;
            }
            Hint::DontNeed(extent) => {
                if let Some(plan) = self.plans.get_mut(&said.object) {
                    plan.leave_out(extent, said.size);
                }
                return;
            }
            Hint::Normal => None,
            Hint::Sequential => Some(Habit::Sequential),
            Hint::Random => Some(Habit::Random),
        };
        let Some(reader) = said.reader else { return };
        match habit {
            Some(habit) => self.habits.insert((said.object, reader), habit),
            None => self.habits.remove(&(said.object, reader)),
        };
    }

    /// How many that are followed are read just now.
    pub(super) fn reading_count(&mut self, now: Time) -> u64 {
        self.reading.enter_period(period(now));
        self.reading.count()
    }

    pub(super) fn habit(&self, access: &Access) -> Option<Habit> {
        self.habits.get(&(access.object, access.reader)).copied()
    }

    /// A program says that it will read `list`.
    pub(super) fn begin_list(&mut self, now: Time, id: ListId, list: List, grants: Grants<'_>) {
        self.lists.begin(now, id, list, &mut self.reading, grants);
    }

    /// A read. Adds the windows of its plan to `windows`. True if it belongs to a plan or a list: nothing
    /// else is then read ahead for it.
    pub(super) fn on_read(&mut self, access: &Access, grants: Grants<'_>, windows: &mut Vec<Window>) -> bool {
        let is_listed = self.lists.on_read(access, &mut self.reading, grants);
        let Some(plan) = self.plans.get_mut(&access.object) else { return is_listed };
        let is_planned = plan.passes(access);
        // Readahead for others would otherwise come before the bytes that this reader wants.
        self.dropped |= plan.take_parted();
        self.dropped |= plan.lets_go();
        if !is_planned || plan.is_suspended() {
            return is_listed;
        }
        self.reading.count_once(period(access.time), plan.seen_mut());
        plan.go_on(&grants(self.reading.count()), windows);
        true
    }

    /// Whether `object` has a profile that is believed.
    pub(super) fn is_planned(&self, object: ObjectId) -> bool {
        let plan = self.plans.get(&object);
        plan.is_some_and(|plan| plan.origin() == Origin::Profile && !plan.is_suspended())
    }

    /// The plan of `object` as it is, if it is followed.
    pub(super) fn report(&self, object: ObjectId) -> Option<StreamReport> {
        self.plans.get(&object).filter(|plan| !plan.is_suspended()).map(Plan::report)
    }

    /// True once after queued windows of plans are out of date.
    pub(super) fn take_dropped(&mut self) -> bool {
        core::mem::take(&mut self.dropped)
    }

    pub(super) fn on_lost(&mut self, object: ObjectId, extent: Extent) {
        self.lists.on_lost(object, extent);
        if let Some(plan) = self.plans.get_mut(&object) {
            plan.on_lost(extent);
        }
    }

    pub(super) fn on_close(&mut self, object: ObjectId, reader: ReaderId) {
        self.habits.remove(&(object, reader));
    }

    /// The object has no reader any more, or was removed.
    pub(super) fn forget(&mut self, object: ObjectId) {
        self.plans.remove(&object);
    }

    fn plan(
        &mut self,
        said: &Said,
        extents: &[Extent],
        origin: Origin,
        grants: Grants<'_>,
        windows: &mut Vec<Window>,
    ) {
        let mut reading = self.reading;
        if let Some(plan) = self.plan_of(said, extents, origin) {
            reading.count_once(period(said.time), plan.seen_mut());
            plan.begin(&grants(reading.count()), windows);
        }
        self.reading = reading;
    }

    /// The plan for announced extents, if it is followed.
    fn plan_of(&mut self, said: &Said, extents: &[Extent], origin: Origin) -> Option<&mut Plan> {
        match self.plans.get_mut(&said.object) {
            // Advice outweighs a profile, and continues earlier advice.
            Some(plan) if plan.origin() == Origin::Advice && origin == Origin::Profile => return None,
            Some(plan) if plan.origin() == Origin::Advice => plan.append(extents, said.size),
            // It was expected to be opened, or somebody else has it open.
            Some(plan) if origin == Origin::Profile && plan.is_suspended() => return None,
            Some(_) if origin == Origin::Profile => {}
            _ => {
                let route = Route::new(extents, said.size);
                if route.len() == 0 {
                    return None;
                }
                self.plans.insert(said.object, Plan::new(route, origin));
            }
        }
        self.plans.get_mut(&said.object)
    }
}
