//! Clients that read all the time, and the record of their reads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::PART;
use super::reads::Ended;
use super::servers::Servers;

/// Longer than any of these tests waits for readers.
const DEADLINE: Duration = Duration::from_secs(90);

/// One read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    reader: usize,
    /// The phases in which it began and ended.
    pub(super) phases: (usize, usize),
    pub(super) ended: Ended,
    pub(super) took: Duration,
}

/// Clients that read part after part until the test ends.
pub(super) struct Load<'a> {
    count: usize,
    phase: &'a AtomicUsize,
    records: &'a Mutex<Vec<Record>>,
}

impl Load<'_> {
    /// Begins the next phase.
    pub(super) fn next_phase(&self) {
        self.phase.fetch_add(1, Ordering::SeqCst);
    }

    /// Waits until every client has ended `count` reads that began in this phase and that `counts`.
    pub(super) fn wait(&self, count: usize, counts: fn(Ended) -> bool) {
        let phase = self.phase.load(Ordering::SeqCst);
        let began = Instant::now();
        loop {
            let records = self.records.lock().unwrap().clone();
            let of = |reader: usize| {
                let counted = |record: &&Record| {
                    record.reader == reader && record.phases.0 == phase && counts(record.ended)
                };
                records.iter().filter(counted).count()
            };
            if (0..self.count).all(|reader| of(reader) >= count) {
                return;
            }
            let ends: Vec<_> = (0..self.count).map(of).collect();
            assert!(began.elapsed() < DEADLINE, "phase {phase}: a client has ended too few reads: {ends:?}");
            // Nothing tells from outside when reads end.
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Lets clients of each protocol read through `servers` while `during` happens. Returns all reads.
pub(super) fn under_load(servers: &Servers, bytes: &[u8], during: impl FnOnce(&Load<'_>)) -> Vec<Record> {
    let (phase, is_over, records) = (AtomicUsize::new(0), AtomicBool::new(false), Mutex::default());
    let readers = servers.readers();
    let load = Load { count: readers.len(), phase: &phase, records: &records };
    thread::scope(|scope| {
        for (number, mut reader) in readers.into_iter().enumerate() {
            let (phase, is_over, records) = (&phase, &is_over, &records);
            scope.spawn(move || {
                // Each begins elsewhere.
                for part in (number * 7..).map(|part| part * PART % bytes.len()) {
                    if is_over.load(Ordering::SeqCst) {
                        return;
                    }
                    let (began, began_in) = (Instant::now(), phase.load(Ordering::SeqCst));
                    let ended = reader.read(bytes, part..part + PART);
                    let phases = (began_in, phase.load(Ordering::SeqCst));
                    let record = Record { reader: number, phases, ended, took: began.elapsed() };
                    records.lock().unwrap().push(record);
                }
            });
        }
        // The clients end although the test fails.
        let _over = Over(&is_over);
        during(&load);
    });
    records.into_inner().unwrap()
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
