//! `--self-check`: compares the times of readers with the model's.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use forerun_sim::device::{Device, Direction, Notice, Request, RequestId, Time};

use super::clock::Clock;

const RANDOM_READS: u64 = 1000;
const RANDOM_BYTES: u64 = 4 << 10;
const SEQUENTIAL_READS: u64 = 128;
/// A request of the kernel has at most 256 pages: a larger read could become two.
const SEQUENTIAL_BYTES: u64 = 512 << 10;

/// Successive reads, each as soon as the last one is answered.
struct Sequence {
    name: &'static str,
    offsets: Vec<u64>,
    len: u64,
}

/// Reads from the device in the file `disk` of `size` bytes, which was not read before. Returns the
/// times that it took, and those that `model` predicts.
///
/// # Errors
/// If it cannot be read.
pub(super) fn check(disk: &Path, size: u64, mut model: Box<dyn Device>, clock: Clock) -> io::Result<String> {
    let file = File::open(disk)?;
    let mut report = String::new();
    let mut time = Time(0);
    for sequence in sequences(size) {
        let modelled_from = time;
        for (index, offset) in sequence.offsets.iter().enumerate() {
            let len = sequence.len.min(size - offset);
            time = serve(&mut *model, time, RequestId(index as u64), *offset, len);
        }
        let mut buffer = vec![0; sequence.len as usize];
        let started = Instant::now();
        for offset in &sequence.offsets {
            let len = sequence.len.min(size - offset) as usize;
            file.read_exact_at(&mut buffer[..len], *offset)?;
        }
        let took = started.elapsed().as_secs_f64();
        let modelled = clock.real_ns(time.since(modelled_from)) as f64 / 1e9;
        report.push_str(&format!(
            "{} {}: modelled {modelled:.3} s, took {took:.3} s ({:+.2} %)\n",
            sequence.offsets.len(),
            sequence.name,
            (took / modelled - 1.0) * 100.0
        ));
    }
    Ok(report)
}

fn sequences(size: u64) -> [Sequence; 2] {
    // Knuth's multiplier: places all over the device, the same in every run.
    let places = (size / RANDOM_BYTES).max(1);
    let random = (0..RANDOM_READS).map(|index| (index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 16) % places);
    let sequential = (0..SEQUENTIAL_READS).map(|index| index * SEQUENTIAL_BYTES);
    [
        Sequence {
            name: "random reads of 4 KiB",
            offsets: random.map(|place| place * RANDOM_BYTES).collect(),
            len: RANDOM_BYTES,
        },
        Sequence {
            name: "sequential reads of 512 KiB",
            offsets: sequential.take_while(|offset| *offset < size).collect(),
            len: SEQUENTIAL_BYTES,
        },
    ]
}

/// The time at which `device`, idle at `now`, completes a read.
fn serve(device: &mut dyn Device, now: Time, id: RequestId, address: u64, len: u64) -> Time {
    device.submit(now, Request { id, address, len, direction: Direction::Read, issuer: 0, urgent: true });
    device.unplug(now);
    let mut notices = Vec::new();
    let mut time = now;
    while !notices.contains(&Notice::Done { id }) {
        let Some(next) = device.next_time() else { break };
        time = next;
        device.advance(next, &mut notices);
    }
    time
}
