//! The bytes of a plan that readers have read, and those that they have skipped.
//!
//! A single reader that skips much does not follow the plan. Several interleaved readers, each at its own
//! place, skip bytes that another of them reads later. The bytes that they returned for so far tell how
//! many more may follow.

use alloc::vec::Vec;

use crate::policy::follower::route::Route;
use crate::types::Extent;

/// One byte may be skipped for this many that were read,
const USED_SHARE: u64 = 10;
/// and this many for each byte that readers returned for.
const RETURNED_TIMES: u64 = 4;

/// See the module's page. `read` has a number for each of the route's extents.
#[derive(Debug)]
pub(super) struct Passed {
    /// How many bytes of it were read.
    read: Vec<u64>,
    /// Ordered bytes that readers have passed without a read.
    left: u64,
    /// Bytes that were read when they were behind.
    returned: u64,
}

impl Passed {
    /// Of `route` nothing was read.
    pub(super) fn new(route: &Route) -> Passed {
        Passed { read: alloc::vec![0; route.extents().len()], left: 0, returned: 0 }
    }

    /// The route became longer.
    pub(super) fn append(&mut self, route: &Route) {
        self.read.resize(route.extents().len(), 0);
    }

    /// The route is no longer `from` but `to`, a part of it.
    pub(super) fn restrict(&mut self, from: &Route, to: &Route) {
        let read_of = |extent: &Extent| {
            let place = from.positions(*extent).next().map(|positions| from.place(positions.offset));
            place.map_or(0, |place| self.read[place].min(extent.len))
        };
        self.read = to.extents().iter().map(read_of).collect();
    }

    /// Somebody reads `positions`, which are of one extent and may be behind. How many of them were
    /// not read before.
    pub(super) fn record_read(&mut self, route: &Route, positions: Extent, is_behind: bool) -> u64 {
        let place = route.place(positions.offset);
        let fresh = positions.len.min(route.positions_of(place).len - self.read[place]);
        self.read[place] += fresh;
        if is_behind {
            self.left = self.left.saturating_sub(fresh);
            self.returned += fresh;
        }
        fresh
    }

    /// Readers have passed `positions`. The first `wanted` bytes of it were ordered, and unread ones of
    /// those were skipped. Extents after it that were read as a whole are passed too, up to `limit`.
    /// Returns the end of those, and the bytes of all that were read.
    pub(super) fn skip(&mut self, route: &Route, positions: Extent, wanted: u64, limit: u64) -> (u64, u64) {
        let (mut end, mut read_bytes) = (positions.offset, 0);
        let wanted_end = positions.offset + wanted;
        for place in route.place(positions.offset)..self.read.len() {
            let whole = route.positions_of(place);
            let is_read = self.read[place] == whole.len;
            if whole.offset >= limit || (whole.offset >= positions.end() && !is_read) {
                break;
            }
            let until = if is_read { whole.end().min(limit) } else { whole.end().min(positions.end()) };
            let part = Extent::between(end, until);
            let read = self.read[place].min(part.len);
            let unread = Extent::between(end, until.min(wanted_end)).len.saturating_sub(read);
            read_bytes += read;
            self.left += unread;
            end = until;
        }
        (end, read_bytes)
    }

    /// How many bytes of `positions` were read.
    pub(super) fn read_of(&self, route: &Route, positions: Extent) -> u64 {
        let read =
            |place: usize| self.read[place].min(route.positions_of(place).intersection(&positions).len);
        let first = route.place(positions.offset);
        (first..self.read.len())
            .take_while(|place| route.positions_of(*place).offset < positions.end())
            .map(read)
            .sum()
    }

    /// Whether readers that have read `used` bytes have skipped more than they may. They may skip `least`
    /// in any case.
    pub(super) fn is_too_much(&self, used: u64, least: u64) -> bool {
        let returned = RETURNED_TIMES * self.returned;
        self.left > least + used / USED_SHARE + returned
    }

    /// Forgives the bytes that were skipped until now.
    pub(super) fn forgive(&mut self) {
        self.left = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// A route of 64 extents of 1 MiB, none of them adjacent.
    fn route() -> Route {
        let extents: Vec<_> = (0..64).map(|place| Extent::new(2 * place * MIB, MIB)).collect();
        Route::new(&extents, 128 * MIB)
    }

    fn at(place: u64) -> Extent {
        Extent::new(place * MIB, MIB)
    }

    #[test]
    fn skipped_bytes_count_until_they_are_read() {
        let route = route();
        let mut passed = Passed::new(&route);
        assert_eq!(passed.record_read(&route, at(7), false), MIB);
        assert_eq!(passed.skip(&route, Extent::new(0, 8 * MIB), 8 * MIB, u64::MAX), (8 * MIB, MIB));
        assert!(passed.is_too_much(0, 6 * MIB) && !passed.is_too_much(0, 7 * MIB));
        assert!(!passed.is_too_much(10 * MIB, 6 * MIB));
        passed.record_read(&route, at(3), true);
        assert!(!passed.is_too_much(0, 2 * MIB) && passed.is_too_much(0, MIB));
        // Once only.
        passed.record_read(&route, at(3), true);
        assert!(passed.is_too_much(0, MIB));
        passed.forgive();
        assert!(!passed.is_too_much(0, 0));
    }

    #[test]
    fn bytes_that_were_not_ordered_are_not_skipped() {
        let route = route();
        let mut passed = Passed::new(&route);
        passed.skip(&route, Extent::new(0, 8 * MIB), 2 * MIB, u64::MAX);
        assert!(!passed.is_too_much(0, 2 * MIB) && passed.is_too_much(0, 2 * MIB - 1));
    }

    #[test]
    fn bytes_that_were_read_early_are_not_skipped() {
        let route = route();
        let mut passed = Passed::new(&route);
        (1..8).for_each(|place| _ = passed.record_read(&route, at(place), false));
        passed.record_read(&route, Extent::new(8 * MIB, MIB / 2), false);
        assert_eq!(passed.skip(&route, at(0), MIB, 4 * MIB), (4 * MIB, 3 * MIB), "no further than that");
        assert_eq!(passed.skip(&route, at(4), MIB, u64::MAX), (8 * MIB, 4 * MIB));
        passed.skip(&route, at(8), MIB, u64::MAX);
        let left = 3 * MIB / 2;
        assert!(!passed.is_too_much(0, left) && passed.is_too_much(0, left - 1));
    }

    #[test]
    fn read_bytes_stay_known_in_a_part_of_the_route() {
        let route = route();
        let mut passed = Passed::new(&route);
        passed.record_read(&route, at(7), false);
        passed.record_read(&route, at(8), false);
        let extents: Vec<_> = route.extents().iter().skip(8).copied().collect();
        let rest = Route::new(&extents, 128 * MIB);
        passed.restrict(&route, &rest);
        assert_eq!(passed.read_of(&rest, Extent::new(0, u64::MAX)), MIB);
        assert_eq!(passed.read_of(&rest, Extent::new(MIB / 2, MIB)), MIB / 2);
        passed.record_read(&rest, at(1), false);
        assert_eq!(passed.skip(&rest, Extent::new(0, 0), 0, u64::MAX), (2 * MIB, 2 * MIB));
    }
}
