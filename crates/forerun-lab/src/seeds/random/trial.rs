//! The cases of the document, and the process that reads.

use std::sync::{Arc, Mutex, PoisonError};

use forerun_policies::kernel::Algorithm;
use forerun_sim::kernel::KernelConfig;
use forerun_sim::run::Run;
use forerun_sim::source::{Action, Client, Clients, Extent, ObjectId, Placed, Source, Time};
use forerun_trace::generate::Numbers;

use super::super::data;
use super::super::scene::{self, Scene, adaptive, seconds, stock};

const FILE_BYTES: u64 = 100 << 20;
const STAGES: u64 = 8;
const STAGE_BYTES: u64 = 20 << 20;
/// The cost of a page for the processor of that time.
const PAGE_COST_NS: u64 = 3000;

/// A column of the document.
pub(super) struct Policy {
    pub(super) name: &'static str,
    /// The heading of its seconds.
    pub(super) column: &'static str,
    pub(super) algorithm: fn() -> Box<dyn Algorithm>,
}

pub(super) const POLICIES: [Policy; 5] = [
    Policy { name: "stock", column: "stock_s", algorithm: || stock(1 << 20) },
    Policy { name: "hit rate 0", column: "hr0_s", algorithm: || adaptive(0) },
    Policy { name: "hit rate 1", column: "hr1_s", algorithm: || adaptive(1) },
    Policy { name: "hit rate 2", column: "hr2_s", algorithm: || adaptive(2) },
    Policy { name: "hit rate 8", column: "hr8_s", algorithm: || adaptive(8) },
];

/// A case of the document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    pub(super) name: &'static str,
    memory_bytes: u64,
    read_bytes: u64,
    /// Reads begin at multiples of that.
    align: u64,
}

pub(super) const ROOMY_4K: Trial =
    Trial { name: "300M.4k", memory_bytes: 300 << 20, read_bytes: 4 << 10, align: 4 << 10 };
pub(super) const ROOMY_64K: Trial = Trial { name: "300M.64k", read_bytes: 64 << 10, align: 1, ..ROOMY_4K };
pub(super) const TIGHT_64K: Trial = Trial { name: "80M.64k", memory_bytes: 80 << 20, ..ROOMY_64K };
pub(super) const SMALL_64K: Trial = Trial { name: "40M.64k", memory_bytes: 40 << 20, ..ROOMY_64K };
pub(super) const SMALL_4K: Trial = Trial { name: "40M.4k", memory_bytes: 40 << 20, ..ROOMY_4K };

/// A run, and the seconds of its stages.
pub(super) struct Staged {
    pub(super) run: Run,
    pub(super) stages: Vec<f64>,
}

impl Staged {
    /// Seconds of all stages.
    pub(super) fn total(&self) -> f64 {
        self.stages.iter().sum()
    }
}

impl Trial {
    /// The document's rows, one for each stage.
    pub(super) fn rows(self) -> Vec<data::Record> {
        data::rows(&format!("s000_random_reads/{}", self.name))
    }

    /// The document's seconds for each of [`POLICIES`].
    pub(super) fn document_totals(self) -> [f64; 5] {
        let rows = self.rows();
        POLICIES.map(|policy| rows.iter().map(|row| row.number(policy.column)).sum())
    }

    /// With `policy`, in a kernel.
    pub(super) fn kernel(self, policy: &Policy) -> Staged {
        let pages_max = self.memory_bytes / 4096;
        let config = KernelConfig { page_cost_ns: PAGE_COST_NS, ..KernelConfig::linux_2_6(pages_max) };
        self.run(|scene| scene.kernel(config, (policy.algorithm)()))
    }

    /// The result of `run` for the case.
    pub(super) fn run(self, run: impl FnOnce(&Scene<'_>) -> Run) -> Staged {
        let ends = Ends::default();
        let run = self.scene(&ends, run);
        let ends = std::mem::take(&mut *ends.lock().unwrap_or_else(PoisonError::into_inner));
        let starts = [0].into_iter().chain(ends.iter().copied());
        let stages = starts.zip(&ends).map(|(start, end)| seconds(end - start)).collect();
        Staged { run, stages }
    }

    /// Shows the case to `look`; `ends` hears when stages end.
    pub(super) fn scene<T>(self, ends: &Ends, look: impl FnOnce(&Scene<'_>) -> T) -> T {
        look(&Scene {
            source: &|| self.source(ends),
            device: &scene::historic_ide,
            memory_bytes: self.memory_bytes,
            read_cost_ns: PAGE_COST_NS * (self.read_bytes / 4096),
        })
    }

    fn source(self, ends: &Ends) -> Box<dyn Source> {
        let placed = Placed { address: 0, size: FILE_BYTES };
        let reader = Reader { case: self, numbers: Numbers::new(1), read_count: 0, ends: Arc::clone(ends) };
        Box::new(Clients::new(vec![placed], vec![Box::new(reader)]))
    }
}

/// When each stage has ended.
pub(super) type Ends = Arc<Mutex<Vec<u64>>>;

/// The process.
struct Reader {
    case: Trial,
    numbers: Numbers,
    read_count: u64,
    ends: Ends,
}

impl Client for Reader {
    fn next(&mut self, now: Time) -> Action {
        let Trial { read_bytes, align, .. } = self.case;
        let stage = STAGE_BYTES / read_bytes;
        if self.read_count > 0 && self.read_count.is_multiple_of(stage) {
            self.ends.lock().unwrap_or_else(PoisonError::into_inner).push(now.0);
        }
        if self.read_count == STAGES * stage {
            return Action::End;
        }
        self.read_count += 1;
        let places = (FILE_BYTES - read_bytes) / align + 1;
        Action::read(ObjectId(0), Extent::new(self.numbers.below(places) * align, read_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forerun_sim::source::Next;

    #[test]
    fn every_stage_reads_as_much_and_ends_once() {
        for case in [ROOMY_4K, ROOMY_64K] {
            let ends = Ends::default();
            let mut source = case.source(&ends);
            let (mut now, mut bytes) = (Time(0), 0);
            while let Next::Step(step) = source.next(now) {
                assert!(step.extent.end() <= FILE_BYTES && step.extent.offset.is_multiple_of(case.align));
                bytes += step.extent.len;
                now.0 += 1;
                source.done(now, step.token);
            }
            let stage = STAGE_BYTES / case.read_bytes;
            assert_eq!(bytes, STAGES * STAGE_BYTES);
            assert_eq!(*ends.lock().unwrap(), (1..=STAGES).map(|at| at * stage).collect::<Vec<_>>());
        }
    }
}
