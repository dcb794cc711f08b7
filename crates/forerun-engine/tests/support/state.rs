//! How much memory state takes, besides that for blocks: of a stream, and of an open
//! object. For programs whose allocator is [`super::counting::Counting`].

use forerun_engine::{Extent, ObjectId, PolicyChoice};

use super::bed::Bed;
use super::counting::used_bytes;
use super::patterns::Pattern;

const STREAMS: u64 = 128;
const OBJECTS: u64 = 10_000;
const READ_BYTES: u64 = 4096;

/// Bytes for each of many streams of one object.
pub(crate) fn bytes_per_stream() -> u64 {
    let [adaptive, none] = [PolicyChoice::Adaptive, PolicyChoice::None].map(|policy| {
        let before = used_bytes();
        let mut bed = Pattern::Interleaved(STREAMS).bed(policy, 0);
        (0..STREAMS * 20).for_each(|index| _ = Pattern::Interleaved(STREAMS).read(&mut bed, index));
        used_bytes() - before
    });
    adaptive.saturating_sub(none) / STREAMS
}

/// Bytes for each of many objects that are open, once all of them were read in `reads`
/// reads each, one after the other.
pub(crate) fn bytes_per_open_object(reads: u64) -> u64 {
    let mut bed = Bed::new(PolicyChoice::Adaptive, 4 << 20);
    let mut open = |object| {
        bed.engine.open(object, reads * READ_BYTES);
        (0..reads).for_each(|at| _ = bed.read(object, Extent::new(at * READ_BYTES, READ_BYTES)));
    };
    // The first ones fill the memory, whose rows take their place as well.
    (0..OBJECTS).map(ObjectId).for_each(&mut open);
    let before = used_bytes();
    (OBJECTS..2 * OBJECTS).map(ObjectId).for_each(&mut open);
    (used_bytes() - before) / OBJECTS
}
