//! How much after a read is worth having: what readers came for after reads like it says so.
//!
//! Reads that belong to no stream are not as unpredictable as that sounds: programs start, and
//! file systems are walked, in places that are read nearly all over, though in no order. So every
//! read asks about a chunk at each of five distances after it that nobody has read yet, in the
//! name of its kind: how much had been read right before it, and how long it is. Whoever comes to
//! that chunk answers. Nothing is fetched for it, and the device makes no difference, so that it is
//! learned as well where readahead was of no use so far.
//!
//! Fetching a chunk pays if the waits that it saves are worth more than what of it nobody reads;
//! a bet goes as far as that holds. What a wait is worth, the device says: on a disk little to who
//! comes to the chunk at once, since the head is there, and much to who comes back to it. What
//! bytes are worth doubles with each sixth of what may be wasted that is: so bets end where nobody comes.
//!
//! [`places`] remembers what was read and asked about, [`answers`] what became of it.

mod answers;
mod places;

use crate::types::{BLOCK_BYTES, Extent};
use answers::Answers;
pub(super) use answers::Means;
use places::{CHUNK_BYTES, Places, RUN_BLOCKS_MAX};

/// Which chunk after a read it asks about, and up to where such a bet goes.
const DISTANCES: [(u64, u64); 5] =
    [(0, 64 << 10), (1, 128 << 10), (3, 256 << 10), (6, 512 << 10), (12, 1 << 20)];
/// Bits for each of them in what is asked: the kind of read, and one more.
const KIND_BITS: u32 = 5;
const KIND_MASK: u32 = (1 << KIND_BITS) - 1;
/// A bet is at most one of so many bytes that may still be wasted.
const BET_SHARE: u64 = 64;

/// What a read was like: how many blocks right before it had been read, and its length.
#[derive(Clone, Copy, Debug, Default)]
struct Kind(u8);

impl Kind {
    const COUNT: usize = 20;

    fn of(run_blocks: u64, len: u64) -> Kind {
        let run = match run_blocks {
            0 => 0,
            1..8 => 1,
            8..32 => 2,
            32..RUN_BLOCKS_MAX => 3,
            _ => 4,
        };
        let len = match len.div_ceil(BLOCK_BYTES) {
            ..=1 => 0,
            2..=4 => 1,
            5..=16 => 2,
            _ => 3,
        };
        Kind(4 * run + len)
    }
}

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Nearby {
    places: Places,
    answers: [[Answers; DISTANCES.len()]; Kind::COUNT],
    /// The last read's, and where it ended.
    kind: Kind,
    end: u64,
}

impl Nearby {
    /// Somebody reads `extent` of an object of `size` bytes.
    pub(super) fn note(&mut self, extent: Extent, size: u64) {
        self.kind = Kind::of(self.places.run_before(extent.offset / BLOCK_BYTES), extent.len);
        let answers = &mut self.answers;
        let returns = self.end != extent.offset;
        self.end = extent.end();
        self.places.read(extent, |asked, blocks, comes| {
            who_asked(asked).for_each(|(kind, at)| answers[kind][at].answer(blocks, comes, returns));
        });
        let (next, end) = (extent.end().div_ceil(CHUNK_BYTES), size.div_ceil(CHUNK_BYTES));
        let distances = DISTANCES.iter().map(|(distance, _)| *distance);
        let (kind, answers) = (self.kind.0, &mut self.answers[usize::from(self.kind.0)]);
        self.places.ask(next, distances, end, |at, asked| {
            let shift = KIND_BITS * at as u32;
            if *asked >> shift & KIND_MASK == 0 {
                *asked |= (u32::from(kind) + 1) << shift;
                answers[at].ask();
            }
        });
    }

    /// Whether any bytes after the last read that was noted may be worth betting on, if one of
    /// `yield_share` has to be of use.
    pub(super) fn may_pay(&self, yield_share: u64) -> bool {
        self.answers[usize::from(self.kind.0)][0].yield_enough(yield_share)
    }

    /// How many bytes after the last read that was noted are worth betting on.
    pub(super) fn worth(&self, means: Means) -> u64 {
        let answers = &self.answers[usize::from(self.kind.0)];
        let pays = answers.iter().take_while(|answers| answers.pay(&means)).count();
        let reach = pays.checked_sub(1).map_or(0, |last| DISTANCES[last].1);
        reach.min(means.room / BET_SHARE / BLOCK_BYTES * BLOCK_BYTES)
    }
}

/// The kinds of read that asked, and at which distance, by what is kept of a chunk.
fn who_asked(asked: u32) -> impl Iterator<Item = (usize, usize)> {
    let kinds = (0..DISTANCES.len()).map(move |at| (asked >> (KIND_BITS * at as u32) & KIND_MASK, at));
    kinds.filter(|(kind, _)| *kind > 0).map(|(kind, at)| (kind as usize - 1, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    const SIZE: u64 = 1 << 40;

    fn means(room: u64) -> Means {
        Means { most: 64 * MIB, room, wait_bytes: 128 * KIB, next_bytes: 128 * KIB, yield_share: 8 }
    }

    /// Places far apart, of which `parts` of every 16 chunks are read, in no order.
    fn after(parts: u64) -> Nearby {
        let mut nearby = Nearby::default();
        for place in 0..200 {
            for chunk in (0..16).map(|at| at * 7 % 16).filter(|chunk| *chunk < parts) {
                nearby.note(Extent::new(place * 10 * MIB + chunk * 64 * KIB + 8 * KIB, 16 * KIB), SIZE);
            }
        }
        nearby.note(Extent::new(SIZE / 2, 16 * KIB), SIZE);
        nearby
    }

    #[test]
    fn where_all_is_read_a_first_read_bets_on_the_rest() {
        assert!(after(16).worth(means(64 * MIB)) >= 64 * KIB);
    }

    #[test]
    fn where_going_on_is_cheap_only_who_comes_back_is_bet_on() {
        // Half of the places are read on at once, the others after something else.
        let after = |comes_back: bool| {
            let mut nearby = Nearby::default();
            for place in 0..200 {
                nearby.note(Extent::new(place * 10 * MIB, 64 * KIB), SIZE);
                if comes_back {
                    nearby.note(Extent::new(SIZE / 2 + place * 10 * MIB, 4 * KIB), SIZE);
                }
                if place % 2 == 0 {
                    nearby.note(Extent::new(place * 10 * MIB + 64 * KIB, 64 * KIB), SIZE);
                }
            }
            nearby.note(Extent::new(SIZE - MIB, 64 * KIB), SIZE);
            nearby
        };
        let disk = Means { next_bytes: 16 * KIB, ..means(64 * MIB) };
        assert_eq!([true, false].map(|comes_back| after(comes_back).worth(disk)), [64 * KIB, 0]);
        assert_eq!(after(false).worth(means(64 * MIB)), 64 * KIB);
    }

    #[test]
    fn where_little_is_read_nothing_is_bet() {
        assert_eq!(after(1).worth(means(64 * MIB)), 0);
        assert_eq!(Nearby::default().worth(means(64 * MIB)), 0);
    }

    #[test]
    fn bets_get_smaller_and_end_as_what_may_be_wasted_does() {
        let nearby = after(16);
        let bets = [64, 48, 32, 16, 4, 0].map(|room| nearby.worth(means(room * MIB)));
        assert!(bets.is_sorted_by(|more, less| more >= less), "{bets:?}");
        assert!(bets[0] > 0 && bets[5] == 0, "{bets:?}");
    }

    #[test]
    fn reads_at_random_ask_in_vain() {
        let mut nearby = Nearby::default();
        for at in 0..10_000 {
            nearby.note(Extent::new(at * 7919 % (1 << 20) * MIB / 16, 4 * KIB), SIZE);
            assert_eq!(nearby.worth(means(64 * MIB)), 0, "read {at}");
        }
    }
}
