//! A replaced object is an error for those who read the old one, for ever.

use std::sync::mpsc::channel;

use forerun::{ErrorKind, Forerun};

use crate::gate::{gate, over, pattern};

const LEN: usize = 64 << 10;

#[test]
fn changed_is_for_ever_and_reopening_reads_the_new_version() {
    let (old, new) = (pattern(LEN), pattern(LEN + 1));
    let (gate, requests) = gate("a", old.clone());
    // Believed for long, so that only what is learned from the fetch helps.
    let options = crate::gate::plain().with_metadata_ttl(std::time::Duration::from_secs(3600));
    let forerun = Forerun::over(gate.clone(), options).unwrap();
    let reader = forerun.open_blocking("a").unwrap();
    let other = reader.clone();
    let mut buf = [0; 4096];
    std::thread::scope(|scope| {
        scope.spawn(|| reader.read_at_blocking(&mut buf, 0).unwrap());
        requests.next().send_all();
    });
    assert_eq!(buf[..], old[..4096]);

    gate.objects.replace("a", new.clone());
    assert_eq!(
        reader.read_at_blocking(&mut buf, 0).unwrap(),
        4096,
        "what is in memory is still the old version"
    );
    assert_eq!(reader.read_at_blocking(&mut buf, 8192).unwrap_err().kind, ErrorKind::Changed);
    for offset in [0, 8192, 20000] {
        assert_eq!(reader.read_at_blocking(&mut buf, offset).unwrap_err().kind, ErrorKind::Changed);
        assert_eq!(other.read_at_blocking(&mut buf, offset).unwrap_err().kind, ErrorKind::Changed);
    }

    let reopened = forerun.open_blocking("a").unwrap();
    assert_eq!(reopened.size(), new.len() as u64);
    let mut all = vec![0; new.len()];
    std::thread::scope(|scope| {
        scope.spawn(|| reopened.read_at_blocking(&mut all, 0).unwrap());
        requests.next().send_all();
    });
    assert!(all == new);
    assert_eq!(reader.read_at_blocking(&mut buf, 0).unwrap_err().kind, ErrorKind::Changed);
}

#[test]
fn all_who_wait_hear_of_the_change() {
    let (gate, requests) = gate("a", pattern(LEN));
    let forerun = over(&gate);
    let readers = [0, 1].map(|_| forerun.open_blocking("a").unwrap());
    let (answer, answers) = channel();
    for (reader, offset) in readers.iter().zip([0, 32768]) {
        let answer = answer.clone();
        reader.submit(offset, 4096, move |lease| {
            answer.send(lease.map(|lease| lease.len()).map_err(|error| error.kind)).unwrap();
        });
    }
    let (first, second) = (requests.next(), requests.next());
    first.fail(ErrorKind::Changed, "it was replaced; open it again");
    for _ in 0..2 {
        assert_eq!(answers.recv().unwrap(), Err(ErrorKind::Changed));
    }
    drop(readers);
    second.send_all();

    // The same version again, since the backend says so, but read anew.
    let reader = forerun.open_blocking("a").unwrap();
    let mut buf = [0; 4096];
    std::thread::scope(|scope| {
        scope.spawn(|| reader.read_at_blocking(&mut buf, 32768).unwrap());
        requests.next().send_all();
    });
    assert_eq!(buf[..], pattern(LEN)[32768..][..4096]);
}

#[test]
fn a_reader_of_an_entry_reads_exactly_that_version() {
    let (gate, requests) = gate("a", "old");
    let forerun = over(&gate);
    let entry = forerun.stat_blocking("a").unwrap();
    gate.objects.replace("a", "new");
    let (stale, fresh) = (forerun.reader_of(&entry), forerun.open_blocking("a").unwrap());
    let mut buf = [0; 3];
    assert_eq!(stale.read_at_blocking(&mut buf, 0).unwrap_err().kind, ErrorKind::Changed);
    std::thread::scope(|scope| {
        scope.spawn(|| fresh.read_at_blocking(&mut buf, 0).unwrap());
        let request = requests.next();
        assert_eq!(request.version, fresh.entry().version);
        request.send_all();
    });
    assert_eq!(&buf, b"new");
}
