use super::*;

const MIB: u64 = 1 << 20;
const OBJECT: ObjectId = ObjectId(0);

fn window(object: u64, offset: u64, len: u64) -> Queued {
    Queued { object: ObjectId(object), extent: Extent::new(offset, len), class: Class::Forward }
}

#[test]
fn a_reader_of_another_place_has_a_turn_of_its_own() {
    let mut pending = Pending::new();
    pending.push(window(0, 0, 8 * MIB));
    pending.push(window(0, 64 * MIB, 8 * MIB));
    assert_eq!(pending.pop(), Some(window(0, 0, 8 * MIB)));
    pending.dispatched(OBJECT, Extent::new(0, 3 * MIB), 4 * MIB);
    // The reader waits elsewhere, and its fetch replaces the first megabyte of the window there.
    pending.pass(OBJECT, Extent::new(64 * MIB, MIB));
    pending.dispatched_for_reader(OBJECT, Extent::new(64 * MIB, MIB), 4 * MIB);
    for place in 65..68 {
        let rest = window(0, place * MIB, (72 - place) * MIB);
        assert_eq!(pending.pop(), Some(rest));
        pending.dispatched(OBJECT, Extent::new(place * MIB, MIB), 4 * MIB);
        pending.put_back(rest.from((place + 1) * MIB));
    }
    assert!(!pending.is_in_slice());
    // A fetch that continues the slice begins no other.
    pending.dispatched(OBJECT, Extent::new(0, 3 * MIB), 4 * MIB);
    pending.dispatched_for_reader(OBJECT, Extent::new(3 * MIB, MIB), 4 * MIB);
    assert!(!pending.is_in_slice());
}

#[test]
fn windows_of_one_class_join() {
    let mut pending = Pending::new();
    let filled = Queued { class: Class::Filled, ..window(0, 3 * MIB, MIB) };
    let windows = [window(0, 0, MIB), window(0, MIB, 2 * MIB), filled];
    assert!(windows.into_iter().all(|window| pending.push(window)));
    assert_eq!(pending.window_from(OBJECT, 2 * MIB), Some(window(0, 0, 3 * MIB)));
    assert_eq!(pending.window_from(OBJECT, 3 * MIB), Some(filled));
}
