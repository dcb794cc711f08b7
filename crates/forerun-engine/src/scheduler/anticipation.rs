//! A disk's only reader, who waits elsewhere than readahead was decided for.
//!
//! To fetch that first costs him going there and back, and as soon as he has his bytes he asks for
//! others: readahead elsewhere is put off until he pauses, or comes near it himself, when what he
//! waits for takes it along.
//= Iyer, Druschel, "Anticipatory scheduling: a disk scheduling framework to overcome deceptive idleness", 2001

use super::company::Company;
use crate::types::{Extent, ObjectId, ReaderId, Time};

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Anticipation {
    /// Who read last, and where.
    last: Option<(ReaderId, ObjectId, Extent)>,
    /// Of all fetches that somebody waits for.
    company: Company,
}

impl Anticipation {
    /// `reader` reads `extent` of `object`.
    pub(crate) fn note_read(&mut self, now: Time, object: ObjectId, reader: ReaderId, extent: Extent) {
        if self.last.is_some_and(|(last, ..)| last != reader) {
            self.company.note_other(now);
        }
        self.last = Some((reader, object, extent));
    }

    /// A fetch begins that somebody waits for.
    pub(crate) fn begin(&mut self) {
        self.company.begin();
    }

    /// Such a fetch is over.
    pub(crate) fn end(&mut self, now: Time) {
        self.company.end(now);
    }

    /// Whether there is but one reader, of a device with a latency of `latency_ns`, who waits or has
    /// not paused since.
    pub(crate) fn is_awaited(&self, now: Time, latency_ns: u64) -> bool {
        let waits = self.company.is_awaited() || self.company.paused_at().is_some_and(|paused| now < paused);
        waits && !self.company.has_others(now, latency_ns)
    }

    /// When he who waited last will have paused, if nobody asks for more before; none while somebody
    /// waits.
    pub(crate) fn paused_at(&self) -> Option<Time> {
        self.company.paused_at()
    }

    /// Whether `window` is elsewhere in the object that was read last: further than `near_bytes` from
    /// where.
    pub(crate) fn is_elsewhere(&self, object: ObjectId, window: Extent, near_bytes: u64) -> bool {
        self.last.is_some_and(|(_, owner, place)| {
            let gap =
                window.offset.saturating_sub(place.end()).max(place.offset.saturating_sub(window.end()));
            owner == object && gap > near_bytes
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::company::PAUSE_NS;

    const LATENCY: u64 = 8_000_000;
    const MIB: u64 = 1 << 20;

    fn read(anticipation: &mut Anticipation, now: u64, reader: u64) {
        anticipation.note_read(Time(now), ObjectId(0), ReaderId(reader), Extent::new(64 * MIB, 4096));
    }

    #[test]
    fn who_reads_alone_is_waited_for_until_he_pauses() {
        let mut anticipation = Anticipation::default();
        read(&mut anticipation, 0, 0);
        assert!(!anticipation.is_awaited(Time(0), LATENCY), "nobody waits");
        anticipation.begin();
        assert!(anticipation.is_awaited(Time(LATENCY), LATENCY));
        assert_eq!(anticipation.paused_at(), None, "he still waits");
        anticipation.end(Time(LATENCY));
        let paused = LATENCY + PAUSE_NS;
        assert_eq!(anticipation.paused_at(), Some(Time(paused)));
        let is_awaited = [paused - 1, paused].map(|now| anticipation.is_awaited(Time(now), LATENCY));
        assert_eq!(is_awaited, [true, false]);
    }

    #[test]
    fn who_is_not_alone_is_not_waited_for() {
        let mut anticipation = Anticipation::default();
        read(&mut anticipation, 0, 0);
        anticipation.begin();
        read(&mut anticipation, LATENCY, 1);
        assert!(!anticipation.is_awaited(Time(LATENCY), LATENCY));
        read(&mut anticipation, 2 * LATENCY, 1);
        assert!(!anticipation.is_awaited(Time(17 * LATENCY), LATENCY), "the other may come back");
        assert!(anticipation.is_awaited(Time(18 * LATENCY), LATENCY), "the other has gone");
    }

    #[test]
    fn elsewhere_is_far_from_the_last_read_either_way() {
        let mut anticipation = Anticipation::default();
        let is_elsewhere = |anticipation: &Anticipation, object, offset: u64| {
            anticipation.is_elsewhere(ObjectId(object), Extent::new(offset, MIB), 4 * MIB)
        };
        assert!(!is_elsewhere(&anticipation, 0, 0), "nobody has read");
        read(&mut anticipation, 0, 0);
        let offsets = [58, 59, 63, 64, 68, 69];
        let far = offsets.map(|offset| is_elsewhere(&anticipation, 0, offset * MIB));
        assert_eq!(far, [true, false, false, false, false, true]);
        assert!(!is_elsewhere(&anticipation, 1, 0), "of another object nobody knows where it is");
    }
}
