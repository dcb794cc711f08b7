//! Waits that nobody needs any more.

use std::sync::mpsc::channel;

use forerun::{Error, ErrorKind};

use crate::gate::{gate, over, pattern, until};

fn interrupted() -> Error {
    Error::new(ErrorKind::Interrupted, "as the test wants it to")
}

#[test]
fn a_wait_that_is_given_up_ends_once_and_its_bytes_are_there_for_others() {
    let source = pattern(64 << 10);
    let (gate, requests) = gate("a", source.clone());
    let forerun = over(&gate);
    let reader = forerun.open_blocking("a").unwrap();
    let (answer, answers) = channel();
    let first = answer.clone();
    let given_up = reader.submit(0, 4096, move |lease| first.send(lease.map(|lease| lease.len())).unwrap());
    let patient = reader.submit(0, 4096, move |lease| answer.send(lease.map(|lease| lease.len())).unwrap());
    let request = requests.next();

    let given_up = given_up.expect("nothing is in memory");
    let again = given_up.clone();
    assert!(given_up.is_waiting());
    given_up.give_up(interrupted());
    assert_eq!(answers.recv().unwrap().unwrap_err().kind, ErrorKind::Interrupted);
    assert!(!again.is_waiting());
    again.give_up(interrupted());
    assert!(patient.unwrap().is_waiting(), "the wait of another");

    request.send_all();
    assert_eq!(answers.recv().unwrap().unwrap(), 4096);
    assert!(answers.recv().is_err(), "each has ended once");
    let mut buf = [0; 4096];
    reader.read_at_blocking(&mut buf, 0).unwrap();
    assert_eq!(buf[..], source[..4096]);
    assert!(requests.ready().is_none());
}

#[test]
fn memory_is_given_back_when_all_waits_were_given_up() {
    let (gate, requests) = gate("a", pattern(64 << 10));
    let forerun = over(&gate);
    let reader = forerun.open_blocking("a").unwrap();
    let pending = reader.submit(0, 4096, |_| ());
    let request = requests.next();
    pending.unwrap().give_up(interrupted());
    assert_eq!(forerun.memory_bytes(), 4096, "the fetch goes on");
    drop(request);
    until(|| forerun.memory_bytes() == 0);
}

#[test]
fn a_read_that_need_not_wait_has_nothing_to_give_up() {
    let (gate, requests) = gate("a", pattern(4096));
    let forerun = over(&gate);
    let reader = forerun.open_blocking("a").unwrap();
    assert!(reader.submit(4096, 1, |lease| assert!(lease.unwrap().is_empty())).is_none());
    let pending = reader.submit(0, 4096, |_| ()).unwrap();
    requests.next().send_all();
    until(|| !pending.is_waiting());
    assert!(reader.submit(0, 4096, |lease| assert_eq!(lease.unwrap().len(), 4096)).is_none());
}
