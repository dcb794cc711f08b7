//! Dropping never hangs, and nobody is left waiting.

use std::sync::mpsc::channel;

use forerun::ErrorKind;

use crate::gate::{gate, over, pattern};

#[test]
fn parked_reads_end_with_the_last_handle() {
    let (gate, requests) = gate("a", pattern(4 << 20));
    let forerun = over(&gate);
    let reader = forerun.open_blocking("a").unwrap();
    let (answer, answers) = channel();
    for (offset, len) in [(0, 4096), (1 << 20, 8192), (0, 3 << 20)] {
        let answer = answer.clone();
        reader.submit(offset, len, move |lease| answer.send(lease.map(|lease| lease.len())).unwrap());
    }
    drop(answer);
    let held = [requests.next(), requests.next()];
    drop((reader, forerun));
    let ends: Vec<_> = answers.iter().collect();
    assert_eq!(ends.len(), 3);
    assert!(ends.iter().all(|end| end.as_ref().is_err_and(|error| error.kind == ErrorKind::Permanent)));
    held.iter().for_each(|request| request.until_cancelled());
}

#[test]
fn a_reader_outlives_its_forerun() {
    let source = pattern(4096);
    let (gate, requests) = gate("a", source.clone());
    let forerun = over(&gate);
    let reader = forerun.open_blocking("a").unwrap();
    let mut buf = [0; 4096];
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| reader.read_at_blocking(&mut buf, 0).unwrap());
        let request = requests.next();
        drop(forerun);
        request.send_all();
        assert_eq!(thread.join().unwrap(), 4096);
    });
    assert_eq!(buf[..], source);
}

#[test]
fn dropping_inside_a_runtime_is_allowed() {
    let (gate, requests) = gate("a", pattern(4096));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (answer, answers) = channel();
    runtime.block_on(async {
        let forerun = over(&gate);
        let reader = forerun.open("a").await.unwrap();
        reader.submit(0, 10, move |lease| answer.send(lease.is_ok()).unwrap());
        requests.next();
        drop((forerun, reader));
    });
    assert!(answers.recv().is_ok());

    // On a thread of its own runtime.
    let forerun = over(&gate);
    let (done, dropped) = channel();
    let own = forerun.clone();
    let (start, started) = tokio::sync::oneshot::channel::<()>();
    forerun.spawn(async move {
        let _ = started.await;
        drop(own);
        done.send(()).unwrap();
    });
    drop(forerun);
    start.send(()).unwrap();
    dropped.recv().unwrap();
}

#[test]
fn connecting_inside_a_runtime_is_allowed() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("a"), "abc").unwrap();
    let url = directory.path().join("a").to_str().unwrap().to_owned();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let reader = forerun::open_blocking(&url).unwrap();
        let mut buf = [0; 3];
        assert_eq!(reader.read_at_blocking(&mut buf, 0).unwrap(), 3);
    });
}
