//! The patterns whose decisions are measured.

use forerun_engine::{Extent, ObjectId, PolicyChoice, ReaderId};

use super::bed::Bed;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const OBJECT: ObjectId = ObjectId(0);
/// Large enough that no pattern comes to its end.
const SIZE: u64 = 1 << 50;
/// The bytes that one pattern reads again and again.
const CACHED_BYTES: u64 = 64 * MIB;
const FILE_BYTES: u64 = 16 * KIB;
/// Reads of each of many readers before those that are measured.
const WARM_READS: u64 = 8;

/// One way to read, and what goes before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "a test needs only some")]
pub(crate) enum Pattern {
    /// This many KiB in order, all in memory.
    Cached(u64),
    /// 64 KiB in order.
    Sequential,
    /// 64 KiB of every 1 MiB.
    Strided,
    /// 4 KiB anywhere.
    Random,
    /// 64 KiB of each of so many regions in turns.
    Interleaved(u64),
    /// 16 KiB of each of so many objects in turns, each by a reader of its own.
    Readers(u64),
    /// Small files from a directory's start to its end.
    Walk,
}

#[allow(dead_code, reason = "a test needs only some")]
impl Pattern {
    pub(crate) const ALL: [Pattern; 9] = [
        Pattern::Cached(4),
        Pattern::Cached(128),
        Pattern::Sequential,
        Pattern::Strided,
        Pattern::Random,
        Pattern::Interleaved(8),
        Pattern::Interleaved(128),
        Pattern::Readers(10_000),
        Pattern::Walk,
    ];

    pub(crate) fn name(self) -> String {
        match self {
            Pattern::Cached(len) => format!("cached {len}K"),
            Pattern::Interleaved(count) => format!("interleaved {count}"),
            Pattern::Readers(count) => format!("readers {count}"),
            other => format!("{other:?}").to_lowercase(),
        }
    }

    /// A bed on which `count` reads are about to be made.
    pub(crate) fn bed(self, policy: PolicyChoice, count: u64) -> Bed {
        let mut bed = Bed::new(policy, 256 * MIB);
        match self {
            Pattern::Walk => bed.list(vec![FILE_BYTES; count as usize]),
            Pattern::Cached(_) => _ = bed.engine.open(OBJECT, CACHED_BYTES),
            Pattern::Readers(count) => {
                (0..count).for_each(|object| _ = bed.engine.open(ObjectId(object), SIZE));
                (0..WARM_READS * count).for_each(|index| _ = read_in_turns(&mut bed, count, index));
            }
            _ => _ = bed.engine.open(OBJECT, SIZE),
        }
        if matches!(self, Pattern::Cached(_)) {
            (0..CACHED_BYTES / MIB).for_each(|at| _ = bed.read(OBJECT, Extent::new(at * MIB, MIB)));
        }
        bed
    }

    /// Read number `index`: the nanoseconds that deciding took.
    pub(crate) fn read(self, bed: &mut Bed, index: u64) -> u64 {
        if self == Pattern::Walk {
            let object = ObjectId(index);
            bed.enter(index as u32);
            let took = bed.read(object, Extent::new(0, FILE_BYTES));
            bed.close(object);
            return took;
        }
        if let Pattern::Readers(count) = self {
            return read_in_turns(bed, count, WARM_READS * count + index);
        }
        bed.read(OBJECT, self.extent(index))
    }

    fn extent(self, index: u64) -> Extent {
        match self {
            Pattern::Cached(len) => Extent::new(index * len * KIB % CACHED_BYTES, len * KIB),
            Pattern::Strided => Extent::new(index * MIB, 64 * KIB),
            Pattern::Random => {
                // SplitMix64, so that no step is like another.
                let mixed = (index ^ (index >> 30)).wrapping_add(1).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                Extent::new((mixed ^ (mixed >> 31)) % (1 << 22) * 4 * KIB, 4 * KIB)
            }
            Pattern::Interleaved(count) => {
                let region = index % count;
                Extent::new((region << 40) + MIB + index / count * 64 * KIB, 64 * KIB)
            }
            Pattern::Sequential | Pattern::Walk | Pattern::Readers(_) => {
                Extent::new(index * 64 * KIB, 64 * KIB)
            }
        }
    }
}

/// Read number `index` of `count` readers who read in turns.
fn read_in_turns(bed: &mut Bed, count: u64, index: u64) -> u64 {
    let (reader, at) = (index % count, index / count);
    bed.read_as(ReaderId(reader), ObjectId(reader), Extent::new(at * FILE_BYTES, FILE_BYTES))
}
