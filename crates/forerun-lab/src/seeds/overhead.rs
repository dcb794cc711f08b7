//! Seed 002: what the adaptive readahead costs the processor.
//!
//! Virtual time has no processor: seconds are not modelled. The experiment counts how often an
//! algorithm is asked, and how often it asks the page cache. The file is sparse, so that reading
//! needs no disk.
//= seed 002

use std::cell::Cell;

use forerun_engine::{ObjectId, ReaderId};
use forerun_policies::kernel::{Algorithm, Ara, AraTuning, PageCache, PageRead, Step};
use forerun_sim::device::{Device, Preset};
use forerun_sim::kernel::KernelConfig;
use forerun_sim::source::{Action, Clients, Placed, Source, place};

use super::programs::forward;
use super::scene::{Inspected, Scene, stock};
use super::trees::{FILES_PER_DIRECTORY, Tree};
use super::{Claim, Findings, data};
use crate::table::{Column, Table};

const PAGE_BYTES: u64 = 4096;
/// The time to which the copy of the sparse file is scaled.
const SPARSE_BYTES: u64 = 256 << 20;
/// The files that find lists.
const FILES_BYTES: u64 = 434 << 20;
const FILES_MEDIAN_BYTES: u64 = 8 << 10;
/// Memory for all of them.
const PAGES: u64 = 200_000;
/// How much the document's second measurement may differ for nothing to have changed.
const NOISE_PERCENT: f64 = 1.0;

/// How often an algorithm was asked, and what it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CallCounts {
    /// Calls of it.
    pub(super) calls: u64,
    /// Its questions to the page cache.
    pub(super) probes: u64,
    /// Readahead and reads as asked that it started.
    pub(super) fetches: u64,
    /// Pages of those that were not cached.
    pub(super) pages: u64,
}

/// An algorithm whose work is counted.
#[derive(Debug)]
pub(super) struct Counted {
    algorithm: Box<dyn Algorithm>,
    counts: CallCounts,
}

impl Counted {
    /// `algorithm`, to be looked at after its run.
    pub(super) fn keep(algorithm: Box<dyn Algorithm>) -> Inspected<Counted> {
        Inspected::new(Counted { algorithm, counts: CallCounts::default() })
    }

    pub(super) fn counts(&self) -> CallCounts {
        self.counts
    }
}

impl Algorithm for Counted {
    fn on_page(&mut self, read: &PageRead, cache: &dyn PageCache, steps: &mut Vec<Step>) {
        let known = steps.len();
        let probed = Probed { cache, count: Cell::new(0) };
        self.algorithm.on_page(read, &probed, steps);
        self.counts.calls += 1;
        self.counts.probes += probed.count.get();
        for step in &steps[known..] {
            let Step::Fetch { start, count, .. } = *step else { continue };
            let missing = (start..start + count).filter(|page| !cache.is_cached(read.object, *page)).count();
            self.counts.fetches += 1;
            self.counts.pages += missing as u64;
        }
    }

    fn on_unserved(&mut self, read: &PageRead) {
        self.counts.calls += 1;
        self.algorithm.on_unserved(read);
    }

    fn on_end(&mut self, object: ObjectId, reader: ReaderId, last_page: u64) {
        self.counts.calls += 1;
        self.algorithm.on_end(object, reader, last_page);
    }

    fn on_lost(&mut self, object: ObjectId, start: u64, count: u64) {
        self.algorithm.on_lost(object, start, count);
    }

    fn on_close(&mut self, object: ObjectId, reader: ReaderId) {
        self.counts.calls += 1;
        self.algorithm.on_close(object, reader);
    }

    fn on_forget(&mut self, object: ObjectId) {
        self.algorithm.on_forget(object);
    }
}

/// A page cache whose answers are counted.
struct Probed<'a> {
    cache: &'a dyn PageCache,
    count: Cell<u64>,
}

impl Probed<'_> {
    fn cache(&self) -> &dyn PageCache {
        self.count.set(self.count.get() + 1);
        self.cache
    }
}

impl PageCache for Probed<'_> {
    fn is_cached(&self, object: ObjectId, page: u64) -> bool {
        self.cache().is_cached(object, page)
    }

    fn is_inactive_and_read(&self, object: ObjectId, page: u64) -> bool {
        self.cache().is_inactive_and_read(object, page)
    }

    fn scanned_count(&self) -> u64 {
        self.cache().scanned_count()
    }

    fn fillable_count(&self) -> u64 {
        self.cache().fillable_count()
    }

    fn is_congested(&self) -> bool {
        self.cache().is_congested()
    }
}

/// G1.
pub(super) fn per_page() -> Findings {
    findings("s002_overhead/cp sparse /dev/null", "sys_s", &place([SPARSE_BYTES], PAGE_BYTES))
}

/// G2.
pub(super) fn per_file() -> Findings {
    let files = place(Tree::new(FILES_BYTES, FILES_MEDIAN_BYTES, FILES_PER_DIRECTORY).sizes, PAGE_BYTES);
    findings("s002_overhead/find /usr | md5sum", "total_s", &files)
}

fn findings(name: &str, column: &str, files: &[Placed]) -> Findings {
    let mean = |variant: &str| {
        let rows = data::rows(name);
        let of: Vec<f64> = rows
            .iter()
            .filter(|row| row.text("variant").contains(variant))
            .map(|row| row.number(column))
            .collect();
        of.iter().sum::<f64>() / of.len() as f64
    };
    let (old, new) = (mean("stock"), mean("adaptive"));
    let adaptive = Ara::new(AraTuning { ratio_percent: 100, ..AraTuning::default() });
    let mut table = Table::new([
        Column::word("readahead"),
        Column::number("s").below("document"),
        Column::number("of stock").below("document"),
        Column::number("calls per page").below("counted"),
        Column::number("probes per page").below("counted"),
        Column::number("windows per 1000 pages").below("counted"),
        Column::number("calls per file").below("counted"),
    ]);
    let mut seen = Vec::new();
    for (variant, time_s, algorithm) in
        [("stock", old, stock(128 << 10)), ("adaptive", new, Box::new(adaptive) as Box<dyn Algorithm>)]
    {
        let (counts, pages) = count(files, algorithm);
        let per_page = |count: u64| count as f64 / pages as f64;
        table.row([
            variant.to_owned(),
            format!("{time_s:.2}"),
            format!("{:.4}", time_s / old),
            format!("{:.3}", per_page(counts.calls)),
            format!("{:.3}", per_page(counts.probes)),
            format!("{:.2}", per_page(counts.fetches) * 1000.0),
            format!("{:.1}", counts.calls as f64 / files.len() as f64),
        ]);
        seen.push((per_page(counts.calls), per_page(counts.probes)));
    }
    let overhead = (new / old - 1.0) * 100.0;
    let claims = vec![
        Claim::within(
            format!("the document's own times: adaptive costs {overhead:.2} % more, as noise may"),
            overhead,
            -NOISE_PERCENT,
            NOISE_PERCENT,
            "",
        ),
        Claim::that(
            "asked as often as the stock readahead, to 1 %",
            format!("{:.3} and {:.3} calls per page", seen[1].0, seen[0].0),
            seen[1].0 <= seen[0].0 * 1.01,
            "",
        ),
        Claim::within(
            "adaptive: questions to the page cache for each page, beside the one that every read asks",
            seen[1].1 - 1.0,
            0.0,
            2.0,
            "",
        ),
        Claim::that(
            "seconds of processor time",
            "not modelled",
            false,
            "virtual time has no processor; `make bench` measures the cost of Forerun (cargo bench -p \
    forerun --bench hit)",
        ),
    ];
    Findings { tables: vec![table], claims }
}

/// The work of an algorithm while `files` are read one after the other from memory, and the number
/// of their pages.
fn count(files: &[Placed], algorithm: Box<dyn Algorithm>) -> (CallCounts, u64) {
    let instant = || -> Box<dyn Device> { Preset::from_name("instant").expect("a preset").build(1) };
    let scene = Scene {
        source: &|| one_by_one(files),
        device: &instant,
        memory_bytes: PAGES * PAGE_BYTES,
        read_cost_ns: 0,
    };
    let kept = Counted::keep(algorithm);
    scene.kernel(KernelConfig::linux_2_6(PAGES), Box::new(kept.share()));
    let pages = files.iter().map(|file| file.size.div_ceil(PAGE_BYTES)).sum();
    (kept.get().counts(), pages)
}

fn one_by_one(files: &[Placed]) -> Box<dyn Source> {
    let sizes: Vec<u64> = files.iter().map(|file| file.size).collect();
    let reads = sizes.into_iter().enumerate().flat_map(|(file, size)| {
        let object = ObjectId(file as u64);
        forward(size, PAGE_BYTES)
            .map(move |extent| Action::read(object, extent))
            .chain([Action::close(object)])
    });
    Box::new(Clients::new(files.to_vec(), vec![Box::new(reads)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_fetched_once_and_counted() {
        let files = place([40 * PAGE_BYTES, 3 * PAGE_BYTES], PAGE_BYTES);
        for algorithm in [stock(128 << 10), Box::new(Ara::new(AraTuning::default()))] {
            let (counts, pages) = count(&files, algorithm);
            assert_eq!((counts.pages, pages), (43, 43));
            assert!(counts.calls >= 43 && counts.probes >= counts.fetches, "{counts:?}");
        }
    }
}
