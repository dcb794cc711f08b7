//! One list.
//!
//! It is a plan of one imaginary object, in which each file of the list has [`FILE_BYTES_MAX`] bytes of its
//! own. So the plan knows no files, and readers at several places of the list are like readers at several
//! places of an object.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use crate::config::Config;
use crate::explain::{Class, ListReport};
use crate::policy::census::{Census, period};
use crate::policy::follower::plan::{Origin, Plan};
use crate::policy::follower::route::Route;
use crate::policy::{Access, Grant, Grants, Window};
use crate::types::{Extent, ListId, ObjectId, Time};

/// Bytes of one file in the imaginary object, whose size is the largest there may be. The rest
/// of a larger file is left out.
const FILE_BYTES_MAX: u64 = 1 << 46;
/// Parts ahead of the readers of one list. Their files count as closed objects, and all lists must leave
/// room for others ([`Config::closed_objects_max`]).
const AHEAD_PARTS_MAX: usize = 512;

/// A read this little behind the frontier is still of the list: small reads return to a block.
const BEHIND_BYTES: u64 = 1 << 20;

/// Parts of many files, in the order in which a program will read them.
#[derive(Debug)]
pub struct List {
    plan: Plan,
    /// The files that have names. One that was replaced has several objects.
    files: BTreeMap<ObjectId, u32>,
    /// Parts to be fetched next, which nobody was asked for yet.
    wanted: VecDeque<(u32, Extent)>,
    /// When some of it was last read, or when it was started.
    pub(super) last_used: Time,
}

impl List {
    /// `parts` are bytes of files, which the caller numbers from 0, in the order in which they will be
    /// read. Each byte counts once, where it is first. Parts past
    /// [`Config::PLAN_EXTENTS_MAX`](crate::Config::PLAN_EXTENTS_MAX) are left out, and so are files
    /// with a number from there on.
    pub fn new(parts: impl IntoIterator<Item = (u32, Extent)>) -> List {
        let parts = parts.into_iter().filter(|(file, _)| (*file as usize) < Config::PLAN_EXTENTS_MAX);
        let placed: Vec<Extent> = parts.map(|(file, extent)| place(file, extent)).collect();
        let route = Route::new(&placed, FILE_BYTES_MAX * Config::PLAN_EXTENTS_MAX as u64);
        List {
            plan: Plan::new(route, Origin::List),
            files: BTreeMap::new(),
            wanted: VecDeque::new(),
            last_used: Time(0),
        }
    }

    /// How many bytes are to be read, in whole blocks.
    pub fn bytes(&self) -> u64 {
        self.plan.progress().0
    }

    /// It was just started.
    pub(super) fn begin(&mut self, now: Time, reading: &mut Census, grants: Grants<'_>) {
        self.last_used = now;
        reading.count_once(period(now), self.plan.seen_mut());
        let grant = self.grant(reading, grants);
        self.order(|plan, windows| plan.begin(&grant, windows));
    }

    /// A read. True if it belongs to the list, so that nothing else is read ahead for it.
    pub(super) fn on_read(&mut self, access: &Access, reading: &mut Census, grants: Grants<'_>) -> bool {
        let Some(file) = self.files.get(&access.object) else { return false };
        let access = Access { extent: place(*file, access.extent.to_blocks()), ..*access };
        let is_brought = access.ahead == Some(Class::Planned);
        let is_listed = self.plan.passes(&access);
        let has_begun_elsewhere = self.plan.take_parted();
        let is_let_go = self.plan.lets_go();
        if is_let_go {
            self.plan.shorten();
        }
        if has_begun_elsewhere || is_let_go {
            self.forget_wanted();
        }
        if !is_listed || self.plan.is_suspended() {
            return false;
        }
        self.last_used = access.time;
        // Nothing is ordered where the next extents of the list have no known reader.
        if !self.plan.is_beyond(access.extent) {
            reading.count_once(period(access.time), self.plan.seen_mut());
            let grant = self.grant(reading, grants);
            self.order(|plan, windows| plan.go_on(&grant, windows));
        }
        // A reader that comes to a part a second time is read ahead of as if there were no list.
        is_brought || self.plan.is_ahead(access.extent, BEHIND_BYTES)
    }

    /// Planned bytes of `object` will not come, or were evicted unread.
    pub(super) fn on_lost(&mut self, object: ObjectId, extent: Extent) {
        if let Some(file) = self.files.get(&object) {
            self.plan.on_lost(place(*file, extent));
            self.plan.shorten();
        }
    }

    /// `object` is the file, or a version of it.
    pub(super) fn name(&mut self, file: u32, object: ObjectId) {
        self.files.insert(object, file);
    }

    pub(super) fn forget(&mut self, object: ObjectId) {
        self.files.remove(&object);
    }

    /// The file of which something is to be fetched next.
    pub(super) fn next_wanted(&mut self) -> Option<u32> {
        while let Some((file, extent)) = self.wanted.front() {
            // Its readers may have passed it meanwhile.
            if self.plan.is_ahead(place(*file, *extent), 0) {
                return Some(*file);
            }
            self.wanted.pop_front();
        }
        None
    }

    /// The next extent to fetch, if it is of `file`.
    pub(super) fn take_wanted(&mut self, file: u32) -> Vec<Extent> {
        let mut extents = Vec::new();
        while let Some((wanted, extent)) = self.wanted.front().copied()
            && wanted == file
        {
            self.wanted.pop_front();
            extents.push(extent);
        }
        extents
    }

    /// Whether `object` is of it, and it is followed.
    pub(super) fn has(&self, object: ObjectId) -> bool {
        self.files.contains_key(&object) && !self.plan.is_suspended()
    }

    pub(super) fn is_suspended(&self) -> bool {
        self.plan.is_suspended()
    }

    pub(super) fn is_done(&self) -> bool {
        self.plan.is_done()
    }

    /// The objects of which something is ahead of its readers.
    pub(super) fn ahead(&self) -> Vec<ObjectId> {
        let ahead: BTreeSet<u32> = self.plan.ahead().iter().map(|extent| file_of(*extent)).collect();
        self.files.iter().filter(|(_, file)| ahead.contains(file)).map(|(object, _)| *object).collect()
    }

    pub(super) fn report(&self, list: ListId) -> ListReport {
        let (bytes, read_bytes) = self.plan.progress();
        let ahead_bytes = self.plan.ahead_bytes();
        ListReport { list, bytes, read_bytes, ahead_bytes, is_followed: !self.plan.is_suspended() }
    }

    fn grant(&self, reading: &Census, grants: Grants<'_>) -> Grant {
        let mut grant = grants(reading.count());
        grant.window_room = self.plan.room(AHEAD_PARTS_MAX);
        grant
    }

    fn order(&mut self, order: impl FnOnce(&mut Plan, &mut Vec<Window>)) {
        let mut windows = Vec::new();
        order(&mut self.plan, &mut windows);
        self.wanted.extend(windows.iter().map(|window| taken(window.extent)));
    }

    /// The list asks for newly wanted parts first.
    fn forget_wanted(&mut self) {
        for (file, extent) in self.wanted.drain(..) {
            self.plan.on_lost(place(file, extent));
        }
    }
}

/// Where `extent` of `file` lies in the imaginary object.
fn place(file: u32, extent: Extent) -> Extent {
    let within = extent.intersection(&Extent::new(0, FILE_BYTES_MAX));
    let start = u64::from(file) * FILE_BYTES_MAX;
    Extent::new(start + within.offset.min(FILE_BYTES_MAX - within.len), within.len)
}

/// The file that `placed` is of.
fn file_of(placed: Extent) -> u32 {
    (placed.offset / FILE_BYTES_MAX) as u32
}

/// The file and extent at `placed`.
fn taken(placed: Extent) -> (u32, Extent) {
    (file_of(placed), Extent::new(placed.offset % FILE_BYTES_MAX, placed.len))
}
