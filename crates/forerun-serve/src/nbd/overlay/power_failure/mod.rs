//! Power failures at each step of the file. Flushed bytes are there afterwards, and each half of a block is as
//! flushed or as one of the writes since then left it.

mod history;
mod pages;

use std::ops::Range;
use std::os::unix::fs::FileExt;

use bytes::Bytes;
use forerun::{Backend, Forerun, Options, Zeroing};
use forerun_backend::MemoryBackend;

use super::super::changes::FileStep;
use super::super::disk::Disk;
use super::layout::{BLOCK_BYTES, HEAD_BYTES, PAGE_BLOCKS};
use super::*;
use history::{BASE, FIRST_BLOCKS, History, UNIT_BYTES, UNITS, ZEROS, content};
use pages::Pages;

const SIZE: u64 = (PAGE_BLOCKS + 6) * BLOCK_BYTES;
/// The writes of each writer.
const WRITES: usize = 40;
/// Tenths of the steps since the last sync that the disk has, in one failure each.
const KEPT_TENTHS: [usize; 6] = [0, 2, 2, 5, 8, 10];

/// Numbers that look random.
struct Luck(u64);

impl Luck {
    fn below(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }
}

fn offset_of(writer: usize, unit: usize) -> u64 {
    FIRST_BLOCKS[writer] * BLOCK_BYTES + unit as u64 * UNIT_BYTES
}

/// An overlay over an object in memory, and the writes to it.
struct Run {
    overlay: Arc<Overlay>,
    base: Disk,
    entry: Entry,
    history: Mutex<History>,
}

impl Run {
    async fn new(folder: &Path) -> Run {
        let storage = MemoryBackend::new();
        let mut bytes = vec![0; SIZE as usize];
        for writer in 0..FIRST_BLOCKS.len() {
            let base = content(writer, 0..UNITS, BASE);
            bytes[offset_of(writer, 0) as usize..][..base.len()].copy_from_slice(&base);
        }
        storage.replace("a", bytes);
        let options = Options::default().with_memory_bytes(16 << 20);
        let forerun = Forerun::over(Arc::new(storage) as Arc<dyn Backend>, options).unwrap();
        let entry = forerun.stat("a").await.unwrap();
        let overlay = Arc::new(Overlay::open(&folder.join("changes"), &entry).unwrap());
        let base = Disk::Object(forerun.open("a").await.unwrap());
        Run { overlay, base, entry, history: Mutex::new(History::new()) }
    }

    /// The number of steps that the file has taken.
    fn steps(&self) -> usize {
        self.overlay.file.steps.lock().len()
    }

    async fn write_all(&self, writer: usize) {
        let mut luck = Luck(writer as u64);
        for number in 0..WRITES {
            let way = luck.below(6);
            // A trim leaves parts of blocks as they are.
            let align = if way == 0 { 2 } else { 1 };
            let first = luck.below(UNITS - 6) / align * align;
            let units = first..first + [1_usize, 2, 4, 5][luck.below(4)].next_multiple_of(align);
            let tag = if way < 3 { ZEROS } else { BASE + 1 + number as u64 };
            let step = self.steps();
            self.history.lock().begin(writer, &units, step, tag);
            self.write(writer, &units, way, tag).await.unwrap();
            self.history.lock().end(writer, &units);
            if luck.below(4) == 0 {
                let answered = self.history.lock().answered();
                self.overlay.flush().await.unwrap();
                let step = self.steps();
                self.history.lock().end_flush(step, answered);
            }
        }
    }

    async fn write(&self, writer: usize, units: &Range<usize>, way: usize, tag: u64) -> Result<()> {
        let (overlay, offset) = (&self.overlay, offset_of(writer, units.start));
        let len = (units.len() as u64 * UNIT_BYTES) as u32;
        match way {
            0 => overlay.trim(offset, len).await,
            1 | 2 => {
                let zeroing = Zeroing { has_space: way == 1, is_fast: false };
                overlay.write_zeroes(&self.base, offset, len, zeroing).await
            }
            _ => {
                let bytes = Bytes::from(content(writer, units.clone(), tag));
                overlay.write(&self.base, offset, bytes, ()).await
            }
        }
    }

    /// Opens the overlay `path` as a server does after a failure that came after `steps` steps, and compares its bytes.
    async fn check(&self, path: &Path, steps: usize) {
        let overlay = Arc::new(Overlay::open(path, &self.entry).unwrap());
        let flushed = self.history.lock().flushed(steps);
        for writer in 0..FIRST_BLOCKS.len() {
            let (offset, len) = (offset_of(writer, 0), (UNITS as u64 * UNIT_BYTES) as u32);
            let bytes = overlay.read(&self.base, offset, len).await.unwrap();
            let bytes = bytes.unwrap_or_else(|| content(writer, 0..UNITS, BASE));
            self.history.lock().check(writer, &bytes, steps, &flushed);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flushed_bytes_are_there_after_a_power_failure_at_any_step() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::new(folder.path()).await;
    let mut head = vec![0; HEAD_BYTES];
    run.overlay.file.read_exact_at(&mut head, 0).unwrap();
    futures::future::join_all((0..FIRST_BLOCKS.len()).map(|writer| run.write_all(writer))).await;
    let steps = run.overlay.file.steps.lock().clone();
    let (mut on_disk, after) = (Pages::new(run.overlay.layout, head), folder.path().join("after"));
    // The disk has the steps before `durable`, and those before `syncing` once a sync has ended.
    let (mut durable, mut syncing, mut luck) = (0, 0, Luck(1));
    for count in 0..=steps.len() {
        match count.checked_sub(1).map(|last| &steps[last]) {
            Some(FileStep::SyncBegins) => syncing = count,
            Some(FileStep::SyncEnds) => {
                steps[durable..syncing].iter().for_each(|step| on_disk.take(step, || true));
                durable = syncing;
            }
            _ => {}
        }
        for tenths in KEPT_TENTHS {
            let mut pages = on_disk.clone();
            steps[durable..count].iter().for_each(|step| pages.take(step, || luck.below(10) < tenths));
            pages.save(&after);
            run.check(&after, count).await;
        }
    }
    assert!(durable > steps.len() / 2, "flushes came all the time");
}
