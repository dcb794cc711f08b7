use super::*;
use crate::explain::Class;
use crate::scheduler::Slack;
use crate::types::{ClientId, ReaderId};

const MIB: u64 = 1 << 20;
const OBJECT: ObjectId = ObjectId(0);

fn window(object: u64, offset: u64, len: u64) -> Queued {
    let extent = Extent::new(offset, len);
    Queued { object: ObjectId(object), extent, class: Class::Forward, payer: payer(0) }
}

fn payer(reader: u64) -> Payer {
    Payer { client: ClientId(0), reader: ReaderId(reader) }
}

#[test]
fn a_reader_of_another_place_has_a_turn_of_its_own() {
    let (mut pending, fair) = (Pending::new(), &mut Fair::default());
    pending.push(window(0, 0, 8 * MIB), fair);
    pending.push(window(0, 64 * MIB, 8 * MIB), fair);
    assert_eq!(pending.pop(fair), Some(window(0, 0, 8 * MIB)));
    pending.dispatched(OBJECT, Extent::new(0, 3 * MIB), 4 * MIB, ClientId(0));
    // The reader waits elsewhere, and its fetch replaces the first megabyte of the window there.
    pending.pass(OBJECT, Extent::new(64 * MIB, MIB), fair);
    pending.demanded(OBJECT, Extent::new(64 * MIB, MIB), 4 * MIB, ClientId(0));
    for place in 65..68 {
        let rest = window(0, place * MIB, (72 - place) * MIB);
        assert_eq!(pending.pop(fair), Some(rest));
        pending.dispatched(OBJECT, Extent::new(place * MIB, MIB), 4 * MIB, ClientId(0));
        pending.put_back(rest.from((place + 1) * MIB), fair);
    }
    assert!(pending.slice_payer().is_none());
    // A fetch that continues the slice begins no other.
    pending.dispatched(OBJECT, Extent::new(0, 3 * MIB), 4 * MIB, ClientId(0));
    pending.demanded(OBJECT, Extent::new(3 * MIB, MIB), 4 * MIB, ClientId(0));
    assert!(pending.slice_payer().is_none());
}

#[test]
fn windows_of_one_class_join() {
    let (mut pending, fair) = (Pending::new(), &mut Fair::default());
    let filled = Queued { class: Class::Filled, ..window(0, 3 * MIB, MIB) };
    let windows = [window(0, 0, MIB), window(0, MIB, 2 * MIB), filled];
    assert!(windows.into_iter().all(|window| pending.push(window, fair)));
    assert_eq!(pending.window_from(OBJECT, 2 * MIB), Some(window(0, 0, 3 * MIB)));
    assert_eq!(pending.window_from(OBJECT, 3 * MIB), Some(filled));
}

#[test]
fn windows_of_the_readers_of_one_client_join() {
    let (mut pending, fair) = (Pending::new(), &mut Fair::default());
    let other_reader = Queued { payer: payer(1), ..window(0, MIB, MIB) };
    let other_client =
        Queued { payer: Payer { client: ClientId(1), reader: ReaderId(2) }, ..window(0, 2 * MIB, MIB) };
    let windows = [window(0, 0, MIB), other_reader, other_client];
    assert!(windows.into_iter().all(|window| pending.push(window, fair)));
    assert_eq!(pending.window_from(OBJECT, MIB), Some(window(0, 0, 2 * MIB)));
    assert_eq!(pending.window_from(OBJECT, 2 * MIB), Some(other_client));
}

#[test]
fn a_sweep_has_no_end_until_another_client_has_windows() {
    let (mut pending, fair) = (Pending::new(), &mut Fair::default());
    pending.set_sweep(OBJECT, true);
    pending.push(window(0, 64 * MIB, MIB), fair);
    pending.dispatched(OBJECT, Extent::new(0, 8 * MIB), 4 * MIB, ClientId(0));
    assert!(pending.slice_payer().is_some());
    let other = Payer { client: ClientId(1), reader: ReaderId(1) };
    pending.push(Queued { payer: other, ..window(1, 0, MIB) }, fair);
    pending.dispatched(OBJECT, Extent::new(8 * MIB, MIB), 4 * MIB, ClientId(0));
    assert!(pending.slice_payer().is_some());
    pending.dispatched(OBJECT, Extent::new(9 * MIB, 3 * MIB), 4 * MIB, ClientId(0));
    assert!(pending.slice_payer().is_none());
}

#[test]
fn the_bytes_of_an_object_are_those_of_its_windows() {
    let (mut pending, fair) = (Pending::new(), &mut Fair::default());
    let check = |pending: &Pending, bytes: [u64; 2]| {
        assert_eq!([0, 1].map(|object| pending.bytes_of(ObjectId(object))), bytes.map(|mib| mib * MIB));
        let of_object = |object: &u64| pending.windows.iter().any(|window| window.object.0 == *object);
        assert_eq!(
            pending.bytes.len(),
            (0..2).filter(of_object).count(),
            "an object without windows is kept"
        );
    };
    check(&pending, [0, 0]);
    for window in [window(0, 0, 4 * MIB), window(1, 0, 8 * MIB), window(0, 4 * MIB, 4 * MIB)] {
        assert!(pending.push(window, fair));
    }
    check(&pending, [8, 8]);
    let first = pending.pop(fair).expect("the joined window of the first object");
    check(&pending, [0, 8]);
    pending.put_back(first.from(2 * MIB), fair);
    check(&pending, [6, 8]);
    pending.pass(OBJECT, Extent::new(0, 3 * MIB), fair);
    check(&pending, [5, 8]);
    assert_eq!(pending.cut(ObjectId(1), Extent::new(6 * MIB, MIB), fair).len(), 1);
    check(&pending, [5, 6]);
    pending.put_front(window(1, 8 * MIB, MIB), fair);
    check(&pending, [5, 7]);
    (0..3).for_each(|_| assert!(pending.pop(fair).is_some()));
    check(&pending, [0, 0]);
}

#[test]
fn the_window_of_the_reader_whose_turn_it_is_comes_first() {
    let (mut pending, fair) = (Pending::new(), &mut Fair::default());
    let windows = [0, 1, 2].map(|object| Queued { payer: payer(object), ..window(object, 0, 8 * MIB) });
    assert!(windows.iter().all(|window| pending.push(*window, fair)));
    for (reader, bytes) in [(0, 5), (1, 1), (2, 2)] {
        fair.charge(payer(reader), 0, bytes * MIB, Slack { busy: MIB, turns: 0 });
    }
    let order = [0; 3].map(|_| pending.pop(fair).map(|window| window.payer.reader.0));
    assert_eq!(order, [Some(1), Some(2), Some(0)]);
    // Those of one reader go in the order in which they came.
    for offset in [8 * MIB, 0] {
        assert!(pending.push(window(0, offset, MIB), fair));
    }
    let order = [0; 3].map(|_| pending.pop(fair).map(|window| window.extent.offset));
    assert_eq!(order, [Some(8 * MIB), Some(0), None]);
}
