//! Many slow readers, each with a file of its own. Readahead for one of them waits long for its reader, and
//! memory must hold it until then.
//!
//! * [`SlowReaders`] is the workload. The tables of seed 000 have it too.
//! * [`ReaderTrial`] runs it under several policies; [`ReaderRow`] is what one of them made of it.
//! * A policy of Linux runs in a simulated kernel with a page cache, and any other in the engine. Both have
//!   the same memory.

mod least;
mod reader_row;
mod reader_trial;

use forerun_policies::PolicyKind;
use forerun_policies::kernel::{Algorithm, Ara, AraTuning, OnDemand};
use forerun_sim::device::Device;
use forerun_sim::kernel::KernelConfig;
use forerun_sim::run::Run;
use forerun_sim::source::{Action, Client, Clients, ObjectId, Source, place};
use forerun_trace::generate::Numbers;

use crate::seeds::programs::forward;
use crate::seeds::scene::{Scene, stock};
use crate::seeds::server::clients::Server;
pub(crate) use least::{AS_BUSY, least_steps};
pub use reader_row::{ReaderRow, figures, table};
pub(crate) use reader_row::{amplification, busy_percent, fetch_count, fetched_bytes, per_page};
pub use reader_trial::ReaderTrial;

pub(crate) const PAGE_BYTES: u64 = 4096;

/// Readers that each read a file from its beginning to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowReaders {
    /// How many, each of a file of its own.
    pub count: usize,
    /// The size of each file.
    pub file_bytes: u64,
    /// The rate of each reader, at most a page in a nanosecond.
    pub bytes_per_s: u64,
    /// One server reads for all, as in seed 000. It asks for the rest of a file each time, and gets a few
    /// pages. Otherwise each reader asks for a page each time.
    pub has_server: bool,
}

impl SlowReaders {
    pub(crate) fn source(self) -> Box<dyn Source> {
        if self.has_server {
            return Box::new(Server::new(self.count, self.file_bytes, self.bytes_per_s));
        }
        let files = place(std::iter::repeat_n(self.file_bytes, self.count), 1 << 20);
        let clients = (0..self.count as u64).map(|file| Box::new(self.reader(file)) as Box<dyn Client>);
        Box::new(Clients::new(files, clients.collect()))
    }

    /// Reads a file page by page, and begins within the time of the first one.
    fn reader(self, file: u64) -> impl Iterator<Item = Action> {
        let page_ns = self.page_ns();
        let mut numbers = Numbers::new(file + 1);
        let begin = Action::Pause(numbers.below(page_ns));
        let pages = forward(self.file_bytes, PAGE_BYTES).flat_map(move |extent| {
            // Less or more than its time by up to a half.
            let pause = page_ns / 2 + numbers.below(page_ns);
            [Action::read(ObjectId(file), extent), Action::Pause(pause)]
        });
        [begin].into_iter().chain(pages)
    }

    fn page_ns(self) -> u64 {
        PAGE_BYTES * 1_000_000_000 / self.bytes_per_s
    }

    pub(crate) fn run(
        self,
        device: &(dyn Fn() -> Box<dyn Device> + Sync),
        memory_bytes: u64,
        readahead: Readahead,
    ) -> Run {
        let scene = Scene { source: &|| self.source(), device, memory_bytes, read_cost_ns: 0 };
        match readahead {
            Readahead::Linux(algorithm) => {
                scene.kernel(KernelConfig::linux_2_6(memory_bytes / PAGE_BYTES), algorithm)
            }
            Readahead::Forerun(policy, window_bytes_max) => scene.windowed(policy, window_bytes_max),
        }
    }
}

/// The policy of readahead, and where it runs.
#[derive(Debug)]
pub(crate) enum Readahead {
    /// In a simulated kernel.
    Linux(Box<dyn Algorithm>),
    /// In the engine, with windows of at most so many bytes if its rules have a maximum.
    Forerun(PolicyKind, Option<u64>),
}

impl Readahead {
    /// The engine with its default policy.
    pub(crate) fn ours() -> Readahead {
        Readahead::Forerun(PolicyKind::default(), None)
    }

    /// `policy` with windows of at most so many bytes. The adaptive readahead of 2006 has its own maximum.
    pub(crate) fn of(policy: PolicyKind, window_bytes_max: u64) -> Readahead {
        let pages = window_bytes_max / PAGE_BYTES;
        Readahead::Linux(match policy {
            PolicyKind::Stock => stock(window_bytes_max),
            PolicyKind::OnDemand2623 => Box::new(OnDemand::linux_2_6_23(pages)),
            PolicyKind::Context2631 => Box::new(OnDemand::linux_2_6_31(pages)),
            PolicyKind::OnDemand => Box::new(OnDemand::linux_6_12(pages)),
            PolicyKind::Ara => Box::new(careful(AraTuning::default().ratio_percent)),
            _ => return Readahead::Forerun(policy, Some(window_bytes_max)),
        })
    }
}

/// Adaptive readahead that was told how much of what survives to use.
pub(crate) fn careful(ratio_percent: u64) -> Ara {
    Ara::new(AraTuning { ratio_percent, ..AraTuning::default() })
}
