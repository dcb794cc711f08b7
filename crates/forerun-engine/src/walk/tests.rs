use super::*;

/// The number of files planned ahead of a reader that opens those at `indices`, of 50 of two alternating
/// classes.
fn wanted_of(indices: &[u32]) -> usize {
    let (mut walks, directory) = (Walks::default(), DirectoryId(0));
    let files = (0..50).map(|at| ListedFile { size: 4096, class: at % 2 });
    walks.list(Time(0), directory, files, u64::MAX);
    let order = OrderId::Directory(directory);
    for index in indices {
        walks.enter(Time(0), order, *index, ObjectId(u64::from(*index)), u64::MAX);
    }
    core::iter::from_fn(|| walks.next_wanted(false)).count()
}

#[test]
fn openings_in_order_are_a_walk_either_way() {
    assert_eq!([wanted_of(&[20]), wanted_of(&[20, 21]), wanted_of(&[20, 18])], [0; 3]);
    assert_eq!([wanted_of(&[20, 21, 22]), wanted_of(&[20, 19, 18])], [10; 2]);
    assert_eq!([wanted_of(&[20, 22, 24]), wanted_of(&[40, 38, 36])], [10; 2], "one class of two");
    assert_eq!([wanted_of(&[20, 22, 19]), wanted_of(&[20, 30, 40]), wanted_of(&[5, 5, 5])], [0; 3]);
}

#[test]
fn a_walk_goes_on_in_the_next_directory_that_is_listed() {
    let mut walks = Walks::default();
    let list = |walks: &mut Walks, number: u64| {
        let files = (0..50).map(|_| ListedFile { size: 4096, class: 0 });
        while walks.next_wanted(false).is_some() {}
        walks.list(Time(number), DirectoryId(number), files, u64::MAX);
        core::iter::from_fn(|| walks.next_wanted(false)).count()
    };
    assert_eq!(list(&mut walks, 0), 0, "nobody walks yet");
    (0..9).for_each(|at| walks.enter(Time(0), OrderId::Directory(DirectoryId(0)), at, ObjectId(0), u64::MAX));
    assert_eq!([list(&mut walks, 1), list(&mut walks, 2), list(&mut walks, 3)], [32, 32, 0]);
    assert_eq!(list(&mut walks, 3 + ACTIVE_NS), 0, "it rests");
}

const BYTES: u64 = 64 << 10;

/// An engine's walks of a trail of 200 objects of [`BYTES`] each, of which those at `opened` were opened.
fn on_trail(opened: &[u32]) -> Walks {
    let mut walks = Walks::default();
    walks.set_trail((0..200).map(|_| BYTES));
    opened.iter().for_each(|place| open(&mut walks, *place));
    walks
}

fn open(walks: &mut Walks, place: u32) {
    walks.enter(Time(0), OrderId::Trail, place, ObjectId(u64::from(place)), u64::MAX);
}

/// The number of objects planned then, if the driver has named none before.
fn wanted_on_trail(opened: &[u32]) -> usize {
    let mut walks = on_trail(&[]);
    let wanted = opened.iter().map(|place| {
        open(&mut walks, *place);
        core::iter::from_fn(|| walks.next_wanted(true)).count()
    });
    wanted.last().unwrap()
}

#[test]
fn it_wants_the_more_the_farther_it_came() {
    assert_eq!([&[10][..], &[10, 11], &[10, 11, 12]].map(wanted_on_trail), [0, 5, 10]);
}

#[test]
fn passed_objects_cost_trust_until_they_are_opened() {
    assert_eq!(wanted_on_trail(&[10, 11, 13]), 0);
    assert_eq!(wanted_on_trail(&[10, 11, 13, 12]), 15);
    assert_eq!(wanted_on_trail(&[10, 11, 13, 12, 12, 13]), 15, "nothing for opening the same again");
}

#[test]
fn objects_before_its_start_or_far_behind_belong_to_another_walk() {
    let walks = on_trail(&[10]);
    let known = walks.orders.known(OrderId::Trail).unwrap();
    let distances = [9, 10, 11, 12, 43, 44].map(|place| walks.walks[0].distance(place, known));
    assert_eq!(distances, [None, Some(0), Some(0), Some(1), Some(32), None]);
}

#[test]
fn objects_passed_long_ago_are_dropped() {
    let mut walks = on_trail(&[10, 11, 12, 13, 14, 15]);
    while let Some((order, place)) = walks.next_wanted(true) {
        let part = walks.announce(order, place, ObjectId(u64::from(place)), BYTES);
        assert_eq!(part, Some(Part { head: BYTES, tail: 0 }));
    }
    open(&mut walks, 35);
    open(&mut walks, 67);
    assert!(walks.next_dropped().is_none(), "they may still be opened");
    open(&mut walks, 99);
    // Those from 16 to 34.
    assert_eq!(core::iter::from_fn(|| walks.next_dropped()).count(), 19);
}

#[test]
fn unnamed_and_evicted_objects_are_not_ahead() {
    let mut walks = on_trail(&[10, 11, 12]);
    let named = core::iter::from_fn(|| walks.next_wanted(true)).count();
    assert_eq!(named, 10);
    open(&mut walks, 13);
    let (order, place) = walks.next_wanted(true).unwrap();
    assert_eq!(place, 23, "nothing is asked for twice");
    walks.announce(order, place, ObjectId(23), BYTES).unwrap();
    walks.on_lost(ObjectId(23));
    assert_eq!(walks.ledger.ahead_bytes_max(), (1 << 20) + 3 * BYTES / 10 - BYTES);
}
