use super::*;

const MIB: u64 = 1 << 20;

fn at(place: u64) -> Extent {
    Extent::new(place * MIB, MIB)
}

/// Spans of a plan of 64 MiB in pieces of 1 MiB. The first span is ordered up to 8 MiB and read up to 4.
fn begun() -> (Spans, Route, Passed) {
    let extents: Vec<_> = (0..64).map(|place| Extent::new(2 * place * MIB, MIB)).collect();
    let route = Route::new(&extents, 128 * MIB);
    let (mut spans, mut passed) = (Spans::new(), Passed::new(&route));
    spans.recent_mut().ordered = 8 * MIB;
    (0..4).for_each(|place| _ = passed.record_read(&route, at(place), false));
    spans.recent_mut().advance(4 * MIB, 64 * MIB, &route, &mut passed);
    spans.record_read(4 * MIB, 4 * MIB, &route, &mut passed);
    (spans, route, passed)
}

#[test]
fn a_place_is_one_that_is_read_again() {
    let (mut spans, ..) = begun();
    let span = spans.turn_to(20 * MIB);
    assert_eq!(span.place(at(20)), None);
    assert_eq!(span.place(at(40)), None);
    assert_eq!(span.place(at(42)), None, "not in the same place");
    assert_eq!(span.place(at(21)), Some(20 * MIB), "though others were read meanwhile");
}

#[test]
fn each_leg_goes_as_far_as_the_next_and_is_one_with_it_then() {
    let (mut spans, route, mut passed) = begun();
    spans.split(20 * MIB, 4 * MIB, &route, &mut passed);
    assert_eq!((spans.recent().reached, spans.recent_end(64 * MIB)), (20 * MIB, 64 * MIB));
    spans.recent_mut().advance(2 * MIB, 64 * MIB, &route, &mut passed);
    assert_eq!(spans.turn_to(5 * MIB).reached, 4 * MIB);
    assert_eq!((spans.recent_end(64 * MIB), spans.live_count(4 * MIB)), (20 * MIB, 2));
    spans.recent_mut().advance(60 * MIB, 20 * MIB, &route, &mut passed);
    assert_eq!(spans.recent().reached, 20 * MIB, "no further");
    spans.join();
    assert!(spans.recent().is_first() && spans.recent().reached == 22 * MIB);
    assert_eq!(spans.live_count(4 * MIB), 1);
}

#[test]
fn a_span_is_left_once_others_have_read_as_much() {
    let (mut spans, route, mut passed) = begun();
    spans.split(20 * MIB, 4 * MIB, &route, &mut passed);
    spans.record_read(4 * MIB, 8 * MIB, &route, &mut passed);
    assert!(spans.live_count(8 * MIB) == 2 && !passed.is_too_much(0, 0));
    spans.record_read(1, 8 * MIB + 1, &route, &mut passed);
    assert!(spans.live_count(8 * MIB + 1) == 1 && passed.is_too_much(0, 4 * MIB - 1));
    assert_eq!(spans.turn_to(0).reached, 8 * MIB);
}

#[test]
fn where_there_are_too_many_the_one_read_least_of_late_goes() {
    let (mut spans, route, mut passed) = begun();
    for place in 0..2 * SPANS_MAX as u64 - 1 {
        spans.split((20 + place) * MIB, (5 + place) * MIB, &route, &mut passed);
    }
    assert_eq!(spans.spans.len(), SPANS_MAX);
    assert_eq!(spans.recent().reached, (20 + 2 * SPANS_MAX as u64 - 2) * MIB);
    assert!(spans.turn_to(0).is_first() && spans.recent().reached > 20 * MIB);
}

#[test]
fn lost_bytes_are_ordered_again_in_their_own_span() {
    let (mut spans, route, mut passed) = begun();
    spans.split(20 * MIB, 4 * MIB, &route, &mut passed);
    spans.recent_mut().ordered = 30 * MIB;
    spans.on_lost(25 * MIB);
    spans.on_lost(3 * MIB);
    assert_eq!((spans.recent().ordered, spans.turn_to(0).ordered), (25 * MIB, 4 * MIB));
}
