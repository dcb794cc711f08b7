use alloc::vec;
use alloc::vec::Vec;

use super::*;

const SLACK: Slack = Slack { busy: 100, turns: 20 };
const NEAR: ReaderId = ReaderId(1);
const FAR: ReaderId = ReaderId(2);

/// Two clients, of which the first has two readers and the second one.
fn fair() -> Fair {
    let mut fair = Fair::default();
    for (reader, client) in [(ReaderId(0), 1), (NEAR, 1), (FAR, 2)] {
        fair.set_client(reader, ClientId(client));
        fair.charge(fair.payer(reader), 10, 10, SLACK);
    }
    fair
}

/// The read whose turn it is.
fn next(fair: &Fair) -> Option<(ReaderId, ReadId)> {
    fair.reads_in_turn().next().map(|(payer, read)| (payer.reader, read))
}

/// Whether a read of `reader` lets the readahead of one of `others` go first.
fn yields<const N: usize>(fair: &mut Fair, reader: ReaderId, others: [ReaderId; N]) -> bool {
    others.iter().for_each(|other| fair.begin(fair.payer(*other), Kind::Window));
    let first = fair.next_window();
    let yields = first.is_some_and(|first| fair.yields(fair.payer(reader), first));
    others.iter().for_each(|other| fair.end(fair.payer(*other), Kind::Window));
    assert!(fair.next_window().is_none());
    yields
}

#[test]
fn clients_share_and_then_their_readers() {
    let mut fair = fair();
    let mut served = [0; 3];
    for reader in 0..3 {
        fair.begin_wait(ReaderId(reader), ReadId(reader), false);
    }
    for _ in 0..400 {
        let (reader, read) = next(&fair).unwrap();
        assert_eq!(reader.0, read.0);
        served[reader.0 as usize] += 1;
        fair.charge(fair.payer(reader), 10, 10, SLACK);
    }
    assert!(
        served.iter().zip([100, 100, 200]).all(|(got, due): (&i32, i32)| (got - due).abs() <= 6),
        "{served:?}"
    );
}

#[test]
fn reads_of_a_reader_go_in_the_order_in_which_they_came() {
    let mut fair = fair();
    for read in 0..3 {
        fair.begin_wait(NEAR, ReadId(read), false);
    }
    fair.end_wait(NEAR, ReadId(1));
    fair.begin_wait(NEAR, ReadId(3), true);
    let order: Vec<u64> = fair.reads_in_turn().map(|(_, read)| read.0).collect();
    assert_eq!((order, fair.has_waiting()), (vec![3, 0, 2], true));
    [3, 0, 2, 2].iter().for_each(|read| fair.end_wait(NEAR, ReadId(*read)));
    assert_eq!((next(&fair), fair.has_waiting()), (None, false));
}

#[test]
fn a_read_lets_readahead_of_others_go_first_that_have_had_less() {
    let mut fair = fair();
    assert!(!yields(&mut fair, FAR, [NEAR]));
    fair.begin_wait(NEAR, ReadId(0), false);
    fair.charge(fair.payer(FAR), 0, 3 * SLACK.busy, SLACK);
    assert!(yields(&mut fair, FAR, [FAR, NEAR]));
    assert!(!yields(&mut fair, FAR, [FAR]) && !yields(&mut fair, NEAR, [FAR]));
    // The same between the readers of one client.
    fair.charge(fair.payer(NEAR), 0, 3 * SLACK.busy, SLACK);
    fair.charge(fair.payer(ReaderId(0)), 10, 10, SLACK);
    assert!(yields(&mut fair, NEAR, [ReaderId(0)]));
}

#[test]
fn clients_without_readers_are_forgotten() {
    let mut fair = Fair::default();
    for number in 0..10_000 {
        fair.set_client(ReaderId(number), ClientId(number));
        fair.charge(fair.payer(ReaderId(number)), 10, 10, SLACK);
        fair.leave(ReaderId(number));
    }
    assert!(fair.client_of.is_empty() && fair.readers.len() <= 1024, "{}", fair.readers.len());
}

#[test]
fn a_client_that_has_had_its_rate_waits_and_no_other_does() {
    let mut fair = fair();
    fair.set_rate(Some(ClientId(1)), Some(1 << 20));
    fair.begin_wait(NEAR, ReadId(0), false);
    fair.begin_wait(FAR, ReadId(1), false);
    fair.charge(fair.payer(NEAR), 1 << 20, 10, SLACK);
    assert_eq!(next(&fair), Some((FAR, ReadId(1))));
    let is_ready = |fair: &Fair, reader| fair.is_ready(fair.payer(reader));
    assert!(!is_ready(&fair, NEAR) && is_ready(&fair, FAR));
    assert!(!yields(&mut fair, FAR, [NEAR]));
    fair.advance(fair.next_ready().unwrap());
    assert!(is_ready(&fair, NEAR) && fair.next_ready().is_none());
    assert!(fair.fetched_bytes().eq([(ClientId(1), 1 << 20)]));
}
