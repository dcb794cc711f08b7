//! Readers that read at the same time, each a client of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use forerun::{ClientId, Reader};

use crate::store::{self, FILE_BYTES};

const READ_BYTES: u64 = 128 << 10;
const RANDOM_READ_BYTES: u64 = 4 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Forward,
    Random,
}

/// How one reads, and its weight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) order: Order,
    pub(crate) in_flight: usize,
    pub(crate) weight: u32,
}

/// A thread of a reader. Its result is when it ended, and the time of each of its reads.
type Reading = JoinHandle<(Instant, Vec<Duration>)>;

/// Readers that are running.
pub(crate) struct Readers {
    start: Instant,
    done: Vec<Arc<Done>>,
    threads: Vec<(Order, Reading)>,
    is_over: Arc<AtomicBool>,
    sampler: JoinHandle<Vec<Vec<u64>>>,
}

/// How far one has come.
#[derive(Debug, Default)]
struct Done {
    /// Of requests, the next.
    next: AtomicU64,
    bytes: AtomicU64,
    ended: AtomicBool,
}

/// The result.
pub(crate) struct Run {
    pub(crate) time: Duration,
    /// Of each reader.
    pub(crate) bytes: Vec<u64>,
    pub(crate) ends: Vec<Duration>,
    waits: Vec<(Order, Vec<Duration>)>,
    /// The bytes that each has read by the end of each second, as long as all read.
    seconds: Vec<Vec<u64>>,
}

impl Readers {
    pub(crate) fn start(ways: &[Way]) -> Readers {
        let forerun = store::engine();
        let is_over = Arc::new(AtomicBool::new(false));
        let done: Vec<Arc<Done>> = ways.iter().map(|_| Arc::default()).collect();
        let start = Instant::now();
        let mut threads = Vec::new();
        for (index, way) in ways.iter().enumerate() {
            let client = ClientId(1 + index as u64);
            forerun.set_weight(client, way.weight);
            let reader = forerun.for_client(client).open_blocking(&index.to_string()).expect("a file");
            for _ in 0..way.in_flight {
                let (reader, done, is_over) =
                    (reader.clone(), Arc::clone(&done[index]), Arc::clone(&is_over));
                let order = way.order;
                threads.push((order, thread::spawn(move || read(&reader, order, &done, &is_over))));
            }
        }
        let (sampled, over) = (done.clone(), Arc::clone(&is_over));
        let sampler = thread::spawn(move || sample(start, &sampled, &over));
        Readers { start, done, threads, is_over, sampler }
    }

    /// Waits until all have read their file.
    pub(crate) fn finish(self) -> Run {
        let Readers { start, done, threads, is_over, sampler } = self;
        let ended: Vec<_> =
            threads.into_iter().map(|(order, thread)| (order, thread.join().expect("a reader"))).collect();
        let time = start.elapsed();
        is_over.store(true, Ordering::Relaxed);
        let bytes = done.iter().map(|done| done.bytes.load(Ordering::Relaxed)).collect();
        // A reader with several requests in flight has several threads, the last reader.
        let mut ends: Vec<Duration> = ended.iter().map(|(_, (end, _))| *end - start).collect();
        let rest = ends.split_off(done.len() - 1);
        ends.extend(rest.into_iter().max());
        let waits = ended.into_iter().map(|(order, (_, waits))| (order, waits)).collect();
        Run { time, bytes, ends, waits, seconds: sampler.join().expect("the sampler") }
    }

    /// Stops all of them after `time`.
    pub(crate) fn stop_after(self, time: Duration) -> Run {
        // The length of the run is what is asked for.
        thread::sleep(time);
        self.is_over.store(true, Ordering::Relaxed);
        self.finish()
    }
}

impl Run {
    /// The bytes that each has read in each second in which all read.
    pub(crate) fn whole_seconds(&self) -> Vec<Vec<f64>> {
        let differences = |pair: &[Vec<u64>]| {
            let parts = pair[0].iter().zip(&pair[1]);
            parts.map(|(before, after)| (after - before) as f64).collect()
        };
        self.seconds.windows(2).map(differences).collect()
    }

    /// The wait of those that read in this order, at a percentile.
    pub(crate) fn wait(&mut self, part: f64, order: Order) -> Duration {
        let of_order = self.waits.iter().filter(|(of, _)| *of == order);
        let mut waits: Vec<Duration> = of_order.flat_map(|(_, waits)| waits.iter().copied()).collect();
        waits.sort_unstable();
        waits[((waits.len() - 1) as f64 * part) as usize]
    }
}

fn read(reader: &Reader, order: Order, done: &Done, is_over: &AtomicBool) -> (Instant, Vec<Duration>) {
    let len = if order == Order::Random { RANDOM_READ_BYTES } else { READ_BYTES };
    let (count, mut waits) = (FILE_BYTES / len, Vec::new());
    let mut buf = vec![0; len as usize];
    while !is_over.load(Ordering::Relaxed) {
        let index = done.next.fetch_add(1, Ordering::Relaxed);
        if index >= count {
            done.ended.store(true, Ordering::Relaxed);
            break;
        }
        // The thread's buffer makes the order another one for each reader.
        let salt = std::ptr::from_ref(done).addr() as u64;
        let place = if order == Order::Random { mixed(index ^ salt) % count } else { index };
        let began = Instant::now();
        let read = reader.read_at_blocking(&mut buf, place * len).expect("bytes");
        waits.push(began.elapsed());
        assert!(read as u64 == len && buf[0] == store::byte(place * len), "wrong bytes");
        done.bytes.fetch_add(len, Ordering::Relaxed);
    }
    (Instant::now(), waits)
}

/// SplitMix64, so that no step is like another.
fn mixed(index: u64) -> u64 {
    let mixed = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 27)
}

/// The bytes that each has read by the end of each second, until one has ended.
fn sample(start: Instant, done: &[Arc<Done>], is_over: &AtomicBool) -> Vec<Vec<u64>> {
    let mut samples = Vec::new();
    for second in 1.. {
        let due = start + Duration::from_secs(second);
        // Every second has one sample.
        thread::sleep(due.saturating_duration_since(Instant::now()));
        if is_over.load(Ordering::Relaxed) || done.iter().any(|done| done.ended.load(Ordering::Relaxed)) {
            break;
        }
        samples.push(done.iter().map(|done| done.bytes.load(Ordering::Relaxed)).collect());
    }
    samples
}
