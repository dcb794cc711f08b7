//! Reads that are submitted rather than waited for.

use std::sync::mpsc::channel;

use forerun_backend::MemoryBackend;

use crate::gate::{gate, over, pattern, plain};

#[test]
fn a_hit_is_answered_at_once_and_a_miss_elsewhere() {
    let source = pattern(64 << 10);
    let (gate, requests) = gate("a", source.clone());
    let forerun = over(&gate);
    let reader = forerun.open_blocking("a").unwrap();
    let (answer, answers) = channel();
    let submit = |offset: u64, len: usize| {
        let answer = answer.clone();
        reader.submit(offset, len, move |lease| {
            let lease = lease.unwrap();
            let pieces: Vec<u8> = lease.slices().flatten().copied().collect();
            assert_eq!((lease.to_contiguous().as_ref(), lease.len()), (&pieces[..], pieces.len()));
            assert_eq!(lease.is_empty(), pieces.is_empty());
            answer.send((pieces, std::thread::current().id())).unwrap();
        });
    };
    submit(5000, 30000);
    let request = requests.next();
    assert!(answers.try_recv().is_err());
    request.send_all();
    let (bytes, thread) = answers.recv().unwrap();
    assert!(bytes == source[5000..35000] && thread != std::thread::current().id());
    submit(6000, 20000);
    let (bytes, thread) = answers.try_recv().unwrap();
    assert!(bytes == source[6000..26000] && thread == std::thread::current().id());
    submit(64 << 10, 10);
    assert!(answers.try_recv().unwrap().0.is_empty());
}

#[test]
fn a_read_longer_than_the_engine_takes_is_gathered() {
    let source = pattern(5 << 20);
    let memory = MemoryBackend::new();
    memory.replace("a", source.clone());
    let options = plain().with_memory_bytes(4 << 20);
    let forerun = forerun::Forerun::over(std::sync::Arc::new(memory), options).unwrap();
    let reader = forerun.open_blocking("a").unwrap();
    let (answer, answers) = channel();
    reader.submit(1000, 10 << 20, move |lease| {
        answer.send(lease.unwrap().to_contiguous().into_owned()).unwrap()
    });
    assert!(answers.recv().unwrap() == source[1000..]);
}

#[test]
fn a_callback_may_read_in_turn() {
    let source = pattern(256 << 10);
    let memory = MemoryBackend::new();
    memory.replace("a", source.clone());
    let forerun = forerun::Forerun::over(std::sync::Arc::new(memory), plain()).unwrap();
    let reader = forerun.open_blocking("a").unwrap();
    let (answer, answers) = channel();
    let again = reader.clone();
    reader.submit(0, 4096, move |lease| {
        let lease = lease.unwrap();
        let mut buf = [0; 4096];
        again.read_at_blocking(&mut buf, 100_000).unwrap();
        answer.send((lease.to_contiguous().into_owned(), buf)).unwrap();
    });
    let (outer, inner) = answers.recv().unwrap();
    assert!(outer == source[..4096] && inner == source[100_000..][..4096]);
}

#[test]
fn blocking_reads_on_the_runtimes_own_threads_do_not_starve_it() {
    let source = pattern(1 << 20);
    let memory = MemoryBackend::new();
    memory.replace("a", source.clone());
    let forerun = forerun::Forerun::over(std::sync::Arc::new(memory), plain()).unwrap();
    let (answer, answers) = channel();
    for index in 0..16 {
        let (reader, answer) = (forerun.open_blocking("a").unwrap(), answer.clone());
        forerun.spawn(async move {
            let mut buf = [0; 1000];
            reader.read_at_blocking(&mut buf, index * 65536).unwrap();
            answer.send((index as usize * 65536, buf)).unwrap();
        });
    }
    drop(answer);
    assert_eq!(answers.iter().filter(|(at, buf)| source[*at..][..1000] == *buf).count(), 16);
}

#[test]
fn a_thread_that_leases_waits_for_the_bytes() {
    let source = pattern(64 << 10);
    let (gate, requests) = gate("a", source.clone());
    let reader = over(&gate).open_blocking("a").unwrap();
    let waiting = reader.clone();
    let waiting = std::thread::spawn(move || waiting.lease_blocking(60_000, 10_000).unwrap());
    requests.next().send_all();
    assert!(*waiting.join().unwrap().to_contiguous() == source[60_000..]);
}
