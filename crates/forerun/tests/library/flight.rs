//! Bytes are fetched once, and given as they come.

use std::sync::mpsc::channel;

use crate::gate::{gate, over, pattern, until};

const THREADS: usize = 8;

#[test]
fn many_who_want_the_same_bytes_share_one_fetch() {
    let source = pattern(64 << 10);
    let (gate, requests) = gate("a", source.clone());
    let forerun = over(&gate);
    let readers: Vec<_> = (0..THREADS).map(|_| forerun.open_blocking("a").unwrap()).collect();
    std::thread::scope(|scope| {
        for reader in &readers {
            let source = &source;
            scope.spawn(move || {
                let mut buf = [0; 4096];
                reader.read_at_blocking(&mut buf, 8192).unwrap();
                assert_eq!(buf, source[8192..][..4096]);
            });
        }
        let request = requests.next();
        until(|| forerun.counters().read_count == THREADS as u64);
        assert_eq!(request.extent, 8192..12288);
        request.send_all();
    });
    assert!(requests.ready().is_none());
    let counters = forerun.counters();
    assert_eq!((counters.demand_count, counters.demand_bytes), (1, 4096));
}

#[test]
fn a_reader_is_answered_before_its_fetch_ends() {
    let source = pattern(1 << 20);
    let (gate, requests) = gate("a", source.clone());
    let forerun = over(&gate);
    let reader = forerun.open_blocking("a").unwrap();
    let (answer, answers) = channel();
    let first = answer.clone();
    reader.submit(0, 1 << 20, move |lease| answer.send(lease.unwrap().len()).unwrap());
    let mut fetches = requests.bringing(1 << 20);
    reader.submit(4096, 8192, move |lease| {
        let lease = lease.unwrap();
        first.send(usize::from(lease.to_contiguous()[0])).unwrap();
    });
    fetches[0].send(12288);
    assert_eq!(answers.recv().unwrap(), usize::from(source[4096]));
    assert!(answers.try_recv().is_err(), "the long read is answered though its bytes are not there");
    fetches.into_iter().for_each(|fetch| fetch.send_all());
    assert_eq!(answers.recv().unwrap(), 1 << 20);
}

#[test]
fn what_was_read_survives_close_and_reopen() {
    let source = pattern(16 << 10);
    let (gate, requests) = gate("a", source.clone());
    let forerun = over(&gate);
    let mut buf = [0; 16 << 10];
    let reader = forerun.open_blocking("a").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| reader.read_at_blocking(&mut buf, 0).unwrap());
        requests.next().send_all();
    });
    drop(reader);
    let again = forerun.open_blocking("a").unwrap();
    buf.fill(0);
    again.read_at_blocking(&mut buf, 0).unwrap();
    assert!(buf[..] == source && requests.ready().is_none());
}

#[test]
fn readahead_that_nobody_waits_for_is_cancelled_on_close() {
    let (gate, requests) = gate("a", pattern(8 << 20));
    let options = crate::gate::plain().with_policy(forerun::PolicyKind::OnDemand);
    let forerun = forerun::Forerun::over(gate, options).unwrap();
    let reader = forerun.open_blocking("a").unwrap();
    let (answer, answers) = channel();
    for at in (0..3).map(|index| index * 16384) {
        let answer = answer.clone();
        reader.submit(at, 16384, move |lease| answer.send(lease.map(|lease| lease.len())).unwrap());
    }
    let (mut held, mut answered) = (Vec::new(), 0);
    until(|| {
        while let Some(request) = requests.ready() {
            if request.extent.start < 3 * 16384 { request.send_all() } else { held.push(request) }
        }
        answered += answers.try_iter().inspect(|answer| assert!(answer.is_ok())).count();
        answered == 3 && !held.is_empty()
    });
    drop(reader);
    held.iter().for_each(|request| request.until_cancelled());
}
