//! The standard workloads, each a function.
//!
//! Each takes a factor to shrink it by. Files become smaller and fewer by that factor; requests and
//! the distances between them do not.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

use forerun_sim::source::{Action, Client, Clients, Directory, Extent, ObjectId, Time, place};
use forerun_trace::generate::Numbers;

use crate::error::Error;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// Files begin at multiples of it.
const ALIGN: u64 = 4 * KIB;

/// A workload.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// The name that users know it by.
    pub name: &'static str,
    make: fn(u64) -> Clients<'static>,
}

/// All of them, in the order of tables.
pub const ROWS: [Scenario; 14] = [
    Scenario { name: "sequential, 64 KiB", make: sequential },
    Scenario { name: "backward, 64 KiB", make: |shrink| backward(256 * MIB / shrink, 64 * KIB) },
    Scenario { name: "backward, 4 KiB", make: |shrink| backward(64 * MIB / shrink, 4 * KIB) },
    Scenario {
        name: "stride, 64 KiB of every 1 MiB",
        make: |shrink| strided(4 * GIB / shrink, 64 * KIB, MIB),
    },
    Scenario {
        name: "stride, 4 KiB of every 64 KiB",
        make: |shrink| strided(GIB / shrink, 4 * KIB, 64 * KIB),
    },
    Scenario { name: "8 interleaved readers, one handle", make: |shrink| interleaved(8, GIB / shrink) },
    Scenario { name: "128 interleaved readers, one handle", make: |shrink| interleaved(128, GIB / shrink) },
    Scenario { name: "8 threads, 32 KiB, displaced by up to 6", make: displaced },
    Scenario { name: "2 MiB bursts at 128 random places", make: bursts },
    Scenario { name: "64 MiB file, 64 KiB, shuffled", make: shuffled },
    Scenario { name: "random, 4 KiB over 1 GiB", make: random },
    Scenario { name: "sparse, half of the 4 KiB requests", make: sparse },
    Scenario { name: "2000 files of 4 to 64 KiB, in order", make: small_files },
    Scenario { name: "64 readers at 1 MB/s each", make: paced },
];

impl Scenario {
    /// Those whose names contain `words`, in whatever case.
    ///
    /// # Errors
    /// There are none.
    pub fn named(words: &str) -> Result<Vec<Scenario>, Error> {
        let wanted = words.to_lowercase();
        let rows: Vec<Scenario> =
            ROWS.into_iter().filter(|row| row.name.to_lowercase().contains(&wanted)).collect();
        if rows.is_empty() {
            let known = ROWS.map(|row| row.name).join("\n  ");
            let reason = format!("is in no workload's name; the workloads are:\n  {known}");
            return Err(Error::Unfit { name: format!("\"{words}\""), reason });
        }
        Ok(rows)
    }

    /// Its programs, so many times smaller.
    ///
    /// # Panics
    /// `shrink` is 0, or a region would have less than a request.
    pub fn source(&self, shrink: u64) -> Clients<'static> {
        (self.make)(shrink)
    }
}

fn sequential(shrink: u64) -> Clients<'static> {
    let size = GIB / shrink;
    one_reader(size, requests(0..size, 64 * KIB))
}

fn backward(size: u64, len: u64) -> Clients<'static> {
    one_reader(size, (0..size / len).rev().map(move |index| Extent::new(index * len, len)))
}

fn strided(size: u64, len: u64, stride: u64) -> Clients<'static> {
    one_reader(size, (0..size / stride).map(move |index| Extent::new(index * stride, len)))
}

/// One program reads `count` regions of one file in turns.
fn interleaved(count: u64, size: u64) -> Clients<'static> {
    let region = size / count;
    let turns = requests(0..region, 64 * KIB).flat_map(move |extent| {
        (0..count).map(move |reader| Extent::new(reader * region + extent.offset, extent.len))
    });
    one_reader(size, turns)
}

/// Threads that each take the next request of a sequential reader, as a file server's do. No
/// request comes more than 6 places early.
fn displaced(shrink: u64) -> Clients<'static> {
    let size = GIB / shrink;
    let mut numbers = Numbers::new(7);
    let mut order: Vec<(u64, Extent)> =
        requests(0..size, 32 * KIB).zip(0..).map(|(extent, at)| (at + numbers.below(7), extent)).collect();
    order.sort_by_key(|(at, _)| *at);
    let work = Rc::new(RefCell::new(VecDeque::from(order)));
    let thread = |_| -> Box<dyn Client> {
        let work = Rc::clone(&work);
        let next = move || work.borrow_mut().pop_front();
        Box::new(std::iter::from_fn(next).map(|(_, extent)| Action::read(ObjectId(0), extent)))
    };
    Clients::new(place([size], ALIGN), (0..8).map(thread).collect())
}

fn bursts(shrink: u64) -> Clients<'static> {
    let (size, len) = (4 * GIB, 2 * MIB);
    let mut numbers = Numbers::new(3);
    // Bursts of regions twice as large do not overlap.
    let mut regions: Vec<u64> = (0..size / (2 * len)).collect();
    shuffle(&mut regions, &mut numbers);
    let starts = regions.into_iter().take((128 / shrink) as usize).map(move |region| {
        let within = numbers.below(len / ALIGN + 1) * ALIGN;
        region * 2 * len + within
    });
    one_reader(size, starts.flat_map(move |start| requests(start..start + len, 64 * KIB)))
}

fn shuffled(shrink: u64) -> Clients<'static> {
    let size = 64 * MIB / shrink;
    let mut order: Vec<Extent> = requests(0..size, 64 * KIB).collect();
    shuffle(&mut order, &mut Numbers::new(5));
    one_reader(size, order.into_iter())
}

fn random(shrink: u64) -> Clients<'static> {
    let mut numbers = Numbers::new(11);
    let count = 8192 / shrink;
    one_reader(GIB, (0..count).map(move |_| Extent::new(numbers.below(GIB / (4 * KIB)) * 4 * KIB, 4 * KIB)))
}

fn sparse(shrink: u64) -> Clients<'static> {
    let size = 64 * MIB / shrink;
    let mut numbers = Numbers::new(13);
    one_reader(size, requests(0..size, 4 * KIB).filter(move |_| numbers.below(2) == 0))
}

/// A walk through a directory: it is listed, and each file is opened, read with one request and closed.
fn small_files(shrink: u64) -> Clients<'static> {
    let mut numbers = Numbers::new(17);
    let sizes: Vec<u64> = (0..2000 / shrink).map(|_| 4 * KIB + numbers.below(60 * KIB + 1)).collect();
    let placed = place(sizes.iter().copied(), ALIGN);
    let files = (0..).map(ObjectId).zip(sizes);
    let directory = Directory { names: None, files: files.clone().map(|(object, _)| (object, 0)).collect() };
    let reads =
        files.flat_map(|(object, size)| [Action::read(object, Extent::new(0, size)), Action::close(object)]);
    let walk = std::iter::once(Action::list(0)).chain(reads);
    Clients::new(placed, vec![Box::new(walk)]).with_directories(vec![directory])
}

/// Players of a file each, who ask for 64 KiB whenever the last 64 KiB were played.
fn paced(shrink: u64) -> Clients<'static> {
    const COUNT: u64 = 64;
    let (size, len) = (16 * MIB / shrink, 64 * KIB);
    let interval_ns = len * 1000;
    let player = |index| -> Box<dyn Client> {
        let requests = Box::new(requests(0..size, len));
        Box::new(Paced {
            object: ObjectId(index),
            requests,
            due_ns: index * interval_ns / COUNT,
            interval_ns,
        })
    };
    Clients::new(place((0..COUNT).map(|_| size), ALIGN), (0..COUNT).map(player).collect())
}

/// Asks at its times; when it had to wait past one, at once.
struct Paced {
    object: ObjectId,
    requests: Box<dyn Iterator<Item = Extent>>,
    due_ns: u64,
    interval_ns: u64,
}

impl Client for Paced {
    fn next(&mut self, now: Time) -> Action {
        if now.0 < self.due_ns {
            return Action::Pause(self.due_ns - now.0);
        }
        self.due_ns += self.interval_ns;
        self.requests.next().map_or(Action::End, |extent| Action::read(self.object, extent))
    }
}

/// One program with one file of `size` bytes.
fn one_reader(size: u64, extents: impl Iterator<Item = Extent> + 'static) -> Clients<'static> {
    let reads = extents.map(|extent| Action::read(ObjectId(0), extent));
    Clients::new(place([size], ALIGN), vec![Box::new(reads)])
}

fn shuffle<T>(items: &mut [T], numbers: &mut Numbers) {
    for at in (1..items.len()).rev() {
        items.swap(at, numbers.below(at as u64 + 1) as usize);
    }
}

/// Requests of `len` bytes that make up `bytes`, in order.
fn requests(bytes: Range<u64>, len: u64) -> impl Iterator<Item = Extent> {
    let end = bytes.end;
    bytes.step_by(len as usize).map(move |at| Extent::between(at, (at + len).min(end)))
}

#[cfg(test)]
mod tests {
    use forerun_sim::device::Preset;
    use forerun_sim::source::{Deed, Next, Source};

    use super::*;

    /// Bytes read, by whoever has no pauses.
    fn read_bytes(row: &Scenario, shrink: u64) -> u64 {
        let (mut source, mut now, mut bytes) = (row.source(shrink), Time(0), 0);
        loop {
            match source.next(now) {
                Next::Step(step) => {
                    let object = source.objects()[step.object.0 as usize];
                    assert!(step.extent.end() <= object.size, "{}: {:?}", row.name, step.extent);
                    bytes += if matches!(step.deed, Deed::Read { .. }) { step.extent.len } else { 0 };
                    source.done(now, step.token);
                }
                Next::Later(time) => now = time,
                _ => return bytes,
            }
        }
    }

    #[test]
    fn workloads_read_the_bytes_that_their_names_say() {
        let mebibytes: Vec<u64> = ROWS.iter().map(|row| read_bytes(row, 1) / MIB).collect();
        assert_eq!(mebibytes, [1024, 256, 64, 256, 64, 1024, 1024, 1024, 256, 64, 32, 31, 66, 1024]);
        assert!(ROWS.iter().all(|row| read_bytes(row, 16) <= read_bytes(row, 1) / 15));
    }

    #[test]
    fn displaced_requests_are_all_there_and_near_their_places() {
        let (mut source, mut seen) = (displaced(64), Vec::new());
        while let Next::Step(step) = source.next(Time(0)) {
            seen.push(step.extent.offset / (32 * KIB));
            source.done(Time(0), step.token);
        }
        assert!(seen.iter().zip(0..).all(|(number, at)| number.abs_diff(at) <= 6), "{seen:?}");
        assert!(!seen.is_sorted());
        seen.sort_unstable();
        assert_eq!(seen, (0..512).collect::<Vec<u64>>());
    }

    #[test]
    fn every_device_has_room() {
        let end =
            |row: &Scenario| row.source(1).objects().last().map_or(0, |placed| placed.address + placed.size);
        let needed = ROWS.iter().map(end).max().unwrap();
        for name in Preset::ALL {
            assert!(Preset::from_name(name).unwrap().capacity_bytes() >= needed, "{name}");
        }
    }

    #[test]
    fn names_are_found_by_their_words() {
        let names = |words| Scenario::named(words).unwrap().iter().map(|row| row.name).collect::<Vec<_>>();
        assert_eq!(names("BACKWARD"), ["backward, 64 KiB", "backward, 4 KiB"]);
        let error = Scenario::named("sideways").unwrap_err().to_string();
        assert!(error.contains("\"sideways\"") && error.contains("\n  64 readers at"), "{error}");
    }
}
