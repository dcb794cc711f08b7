//! A program that writes to what it reads, and says so.

use std::sync::mpsc::channel;

use forerun::Extent;

use crate::gate::{Gate, gate, over, pattern};

const LEN: usize = 64 << 10;

/// Other bytes in the same version, as in a file that is written.
fn write(gate: &Gate, bytes: Vec<u8>) {
    gate.objects.remove("a");
    gate.objects.replace("a", bytes);
}

#[test]
fn bytes_in_memory_answer_no_read_after_they_were_written() {
    let (old, new) = (pattern(LEN), vec![7; LEN]);
    let (gate, requests) = gate("a", old.clone());
    let forerun = over(&gate);
    let reader = forerun.open_blocking("a").unwrap();
    let other = forerun.open_blocking("a").unwrap();
    let read = |expected: &[u8]| {
        let mut buf = [0; 4096];
        std::thread::scope(|scope| {
            scope.spawn(|| other.read_at_blocking(&mut buf, 8192).unwrap());
            requests.next().send_all();
        });
        assert!(buf[..] == expected[8192..][..4096]);
    };
    read(&old);
    let kept = other.lease_blocking(8192, 4096).unwrap();
    write(&gate, new.clone());
    reader.invalidate(Extent::new(8200, 1));
    read(&new);
    assert!(kept.to_contiguous()[..] == old[8192..][..4096], "a lease keeps the bytes that it was given");
}

#[test]
fn a_fetch_in_flight_answers_no_read_after_its_bytes_were_written() {
    let (old, new) = (pattern(LEN), vec![7; LEN]);
    let (gate, requests) = gate("a", old);
    let forerun = over(&gate);
    let reader = forerun.open_blocking("a").unwrap();
    let (answer, answers) = channel();
    reader.submit(0, 4096, move |lease| answer.send(lease.unwrap().to_contiguous().into_owned()).unwrap());
    let first = requests.next();
    write(&gate, new.clone());
    reader.invalidate(Extent::new(0, 4096));
    let second = requests.next();
    first.send_all();
    second.send_all();
    assert!(answers.recv().unwrap() == new[..4096]);
}
