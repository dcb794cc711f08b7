//! Lists: what a program says that it will read of many objects.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use forerun::{ErrorKind, Forerun, Options, Part, PolicyKind};

use crate::gate::{Gate, Requests, gate, pattern, until};

const BYTES: usize = 128 << 10;

fn path(index: usize) -> String {
    format!("shard {index:02}")
}

/// A gate with `count` objects, none of them alike, and what reads them.
fn bed(count: usize) -> (Arc<Gate>, Requests, Forerun) {
    let (gate, requests) = gate(&path(0), pattern(BYTES));
    (1..count).for_each(|index| gate.objects.replace(&path(index), pattern(BYTES + index)));
    let options = Options::default().with_metadata_ttl(Duration::from_secs(3600));
    let forerun = Forerun::over(gate.clone(), options).unwrap();
    (gate, requests, forerun)
}

fn prefetch(forerun: &Forerun, parts: &[Part]) -> forerun::Result<usize> {
    forerun.prefetch_blocking(parts)
}

#[test]
fn objects_of_a_list_are_read_ahead_before_anybody_opens_them() {
    let (gate, requests, forerun) = bed(6);
    // In no order of their names; one is not there.
    let order = [4, 1, 5, 0, 2];
    let mut parts: Vec<Part> = order.iter().map(|index| Part::whole(path(*index))).collect();
    parts.insert(2, Part::whole("missing"));
    assert_eq!(prefetch(&forerun, &parts).unwrap(), 1);
    let bytes = order.iter().map(|index| (BYTES + index) as u64).sum();
    requests.bringing(bytes).into_iter().for_each(|request| request.send_all());
    let stats = gate.stat_count.load(Ordering::SeqCst);
    for index in order {
        let reader = forerun.open_blocking(&path(index)).unwrap();
        let mut buf = vec![0; BYTES + index];
        assert_eq!(reader.read_at_blocking(&mut buf, 0).unwrap(), buf.len());
        assert_eq!(buf, pattern(BYTES + index));
    }
    assert_eq!(forerun.counters().demand_count, 0);
    assert_eq!(gate.stat_count.load(Ordering::SeqCst), stats, "what was looked up is known");
    until(|| forerun.lists().is_empty());
}

#[test]
fn parts_of_objects_are_fetched_and_nothing_else() {
    let (_gate, requests, forerun) = bed(2);
    let part = |index: usize, offset, len| Part::new(path(index), offset, len);
    let parts = [part(1, 65536, Some(4096)), part(0, 0, Some(8192)), part(1, 122_880, None)];
    assert_eq!(prefetch(&forerun, &parts).unwrap(), 0);
    // They are asked for in the list's order, and reach the store by several threads.
    let mut fetched: Vec<_> = parts.iter().map(|_| requests.next().extent).collect();
    fetched.sort_by_key(|extent| extent.start);
    assert_eq!(fetched, [0..8192, 65536..69632, 122_880..BYTES as u64 + 1]);
    let list = forerun.lists()[0];
    assert_eq!((list.file_count, list.report.read_bytes), (2, 0));
    assert_eq!(list.report.bytes, list.report.ahead_bytes);
    assert!(requests.ready().is_none());
}

#[test]
fn a_replaced_object_of_a_list_is_read_as_it_is_now() {
    let (gate, requests, forerun) = bed(2);
    gate.objects.replace(&path(1), vec![7; BYTES]);
    forerun.stat_blocking(&path(1)).unwrap();
    // It is known as it was.
    gate.objects.replace(&path(1), vec![8; BYTES]);
    prefetch(&forerun, &[Part::whole(path(0)), Part::whole(path(1))]).unwrap();
    requests.next().send_all();
    until(|| forerun.counters().failed_count == 1);
    let reader = forerun.open_blocking(&path(1)).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut buf = vec![0; BYTES];
            reader.read_at_blocking(&mut buf, 0).unwrap();
            assert_eq!(buf, vec![8; BYTES]);
        });
        requests.bringing(BYTES as u64).into_iter().for_each(|request| request.send_all());
    });
}

#[test]
fn what_is_no_list_is_refused_and_says_why() {
    let (_gate, requests, forerun) = bed(1);
    let refused = |parts: &[Part], kind: ErrorKind, words: &str| {
        let error = prefetch(&forerun, parts).unwrap_err();
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.to_string().contains(words), "{words} is not in {error}");
    };
    refused(&[], ErrorKind::Invalid, "has no parts");
    let many = vec![Part::whole("a"); Forerun::LIST_PARTS_MAX + 1];
    refused(&many, ErrorKind::Invalid, "65537 parts, and 65536 is the most");
    for wrong in ["", "/a", "a//b", "../a", "a/./b"] {
        refused(&[Part::whole(path(0)), Part::whole(wrong)], ErrorKind::Invalid, "is no path");
    }
    refused(&[Part::whole("nowhere")], ErrorKind::NotFound, "\"nowhere\" for one");
    let past = Part::new(path(0), BYTES as u64, None);
    refused(&[past], ErrorKind::NotFound, "nothing of the list");
    assert!(requests.ready().is_none() && forerun.lists().is_empty());
}

#[test]
fn a_policy_that_follows_no_lists_says_so() {
    let (gate, _requests) = gate(&path(0), pattern(BYTES));
    let options = Options::default().with_policy(PolicyKind::None);
    let forerun = Forerun::over(gate, options).unwrap();
    let error = prefetch(&forerun, &[Part::whole(path(0))]).unwrap_err();
    assert!(error.to_string().contains("choose `adaptive`"), "{error}");
}
