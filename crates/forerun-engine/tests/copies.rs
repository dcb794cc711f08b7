//! Copies of mapped memory: a copy touches the first page, then the last, then all others, up or
//! down. Readers do so slice by slice, in order, at random or at even steps.

#[path = "support/bed.rs"]
mod bed;

use bed::Bed;
use forerun_engine::*;

const OBJECT: ObjectId = ObjectId(0);
const PAGE: u64 = 4096;
const MIB: u64 = 1 << 20;
const SLICE: u64 = 2 * MIB;
/// The bed's store: the first bytes, and a byte in each 2.5 ns.
const LATENCY_NS: u64 = 10_000_000;
const SLICE_NS: u64 = SLICE / 2 * 5;
const THINK_NS: u64 = SLICE / PAGE * 20_000;

/// Which way a copy goes on after its first and its last page.
#[derive(Clone, Copy, Debug)]
enum Way {
    Up,
    Down,
    /// Each in its own.
    Either,
}

/// Copies `slices` of bytes one after the other; nanoseconds that it took, and bytes fetched for
/// each 100 touched.
fn copy(slices: &[Extent], way: Way) -> (u64, u64) {
    let mut bed = Bed::new(PolicyChoice::Adaptive, 128 * MIB);
    bed.engine.open(OBJECT, 1024 * MIB);
    let mut touched = 0;
    for (index, slice) in slices.iter().enumerate() {
        let (first, last) = (slice.offset / PAGE, (slice.end() - 1) / PAGE);
        let between = first + 1..last;
        let is_down = match way {
            Way::Up => false,
            Way::Down => true,
            Way::Either => index * 7919 % 13 % 2 == 0,
        };
        let between: Vec<u64> = if is_down { between.rev().collect() } else { between.collect() };
        for page in [first, last].into_iter().chain(between) {
            bed.read(OBJECT, Extent::new(page * PAGE, PAGE));
        }
        touched += last + 1 - first;
    }
    let counters = bed.engine.counters();
    (bed.now().0, (counters.demand_bytes + counters.readahead_bytes) * 100 / (touched * PAGE))
}

fn in_order(count: u64) -> Vec<Extent> {
    (0..count).map(|index| Extent::new(index * SLICE, SLICE)).collect()
}

fn at_random(count: u64) -> Vec<Extent> {
    let mut places: Vec<u64> = (0..500).collect();
    places.sort_by_key(|place| (place + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29));
    places.truncate(count as usize);
    places.into_iter().map(|place| Extent::new(place * SLICE, SLICE)).collect()
}

#[test]
fn slices_in_order_come_at_the_speed_of_the_link() {
    for way in [Way::Up, Way::Down, Way::Either] {
        let (ns, fetched) = copy(&in_order(200), way);
        let slice_ns = ns / 200;
        assert!(slice_ns < (SLICE_NS + THINK_NS) * 5 / 4, "{way:?}: {slice_ns} ns a slice");
        assert!(fetched <= 105, "{way:?}: {fetched} bytes for each 100");
    }
}

#[test]
fn slices_at_random_take_a_latency_and_a_transfer_each() {
    for way in [Way::Up, Way::Down, Way::Either] {
        let (ns, fetched) = copy(&at_random(200), way);
        let slice_ns = ns / 200;
        let least = LATENCY_NS + SLICE_NS + THINK_NS;
        assert!(slice_ns < least * 6 / 5, "{way:?}: {slice_ns} ns a slice, {least} are the least");
        assert!(fetched <= 110, "{way:?}: {fetched} bytes for each 100");
    }
}

#[test]
fn slices_at_even_steps_are_read_ahead_wherever_their_bytes_begin() {
    for (way, step) in
        [(Way::Up, 5 * MIB), (Way::Down, 5 * MIB), (Way::Either, 5 * MIB + 700), (Way::Up, 5 * MIB - 4000)]
    {
        let slices: Vec<_> = (1..200).map(|index| Extent::new(index * step, MIB + 100)).collect();
        let (ns, fetched) = copy(&slices, way);
        let slice_ns = ns / slices.len() as u64;
        // Alone each would wait for its own latency.
        assert!(slice_ns < LATENCY_NS, "{way:?}, {step}: {slice_ns} ns a slice");
        assert!(fetched <= 115, "{way:?}, {step}: {fetched} bytes for each 100");
    }
}

/// Reads `pages` from `first` on, one by one.
fn read_pages(bed: &mut Bed, first: u64, pages: u64) {
    (first..first + pages).for_each(|page| {
        bed.read(OBJECT, Extent::new(page * PAGE, PAGE));
    });
}

#[test]
fn elements_that_turn_out_longer_are_read_ahead_to_their_ends() {
    let mut bed = Bed::new(PolicyChoice::Adaptive, 128 * MIB);
    bed.engine.open(OBJECT, 1024 * MIB);
    (1..10).for_each(|element| read_pages(&mut bed, element * 1000, 62));
    let before = bed.now();
    (10..60).for_each(|element| read_pages(&mut bed, element * 1000, 63));
    let took = bed.now().since(before);
    assert!(took < 50 * 63 * 20_000 + 10 * LATENCY_NS, "{took} ns");
}
