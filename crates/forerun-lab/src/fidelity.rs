//! A prediction of reads through a mount, to be compared with a real mount.
//!
//! The stack is the real one, layer by layer: threads, the page cache of Linux, the unmodified
//! engine, and a store. The page cache has the readahead of a FUSE mount. The work of processors,
//! which takes no virtual time, comes in as [`Costs`].

mod replies;

use std::cell::RefCell;
use std::rc::Rc;

use forerun_engine::Config;
use forerun_policies::PolicyKind;
use forerun_policies::kernel::OnDemand;
use forerun_sim::device::Preset;
use forerun_sim::kernel::{FileState, KernelConfig, KernelWorld, Unplug};
use forerun_sim::run::Run;
use forerun_sim::source::{Action, Client, Clients, Extent, ObjectId, Time, place};
use forerun_sim::world::Served;
use forerun_trace::generate::Numbers;

use self::replies::Replies;
use crate::error::Error;

const PAGE_BYTES: u64 = 4096;

/// The mean costs of reading besides waiting for the store, in nanoseconds. No two reads take the
/// same time, and the order in which threads go on follows from that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// The cost of every read for its thread, if the kernel has the bytes.
    pub request_ns: u64,
    /// The cost of each of its pages for the thread.
    pub page_ns: u64,
    /// The cost of every request of the kernel that the mount answers.
    pub reply_ns: u64,
    /// The cost of each page of the answer.
    pub reply_page_ns: u64,
}

/// The layers between the readers and the bytes.
#[derive(Clone, Debug)]
pub struct Stack {
    /// How much the kernel reads ahead above the mount, in bytes.
    pub kernel_readahead_bytes: u64,
    /// The mount's policy.
    pub policy: PolicyKind,
    /// The mount's memory for data, in bytes.
    pub memory_bytes: u64,
    /// The store.
    pub store: Preset,
    /// The costs that take real time only.
    pub costs: Costs,
    /// How many answers the mount gives at once, not 0; others wait.
    pub replier_count: usize,
}

/// The reads of some threads of one file that is open once: a free thread takes the next read.
#[derive(Clone, Debug)]
pub struct Readers {
    /// The file's size in bytes.
    pub file_bytes: u64,
    /// How long it takes until the file is open, in nanoseconds.
    pub open_ns: u64,
    /// How many threads there are.
    pub thread_count: usize,
    /// The reads, in order.
    pub reads: Vec<Extent>,
}

/// The outcome of `readers` on `stack` if none starts a read after `until_ns`, with the luck of
/// `seed`. [`Run::device`] is the store.
///
/// # Errors
/// An engine that cannot be, or a defect of the simulator.
pub fn predict(stack: &Stack, readers: &[Readers], until_ns: u64, seed: u64) -> Result<Run, Error> {
    let objects = place(readers.iter().map(|readers| readers.file_bytes), PAGE_BYTES);
    let engine = Config { policy: stack.policy.into(), ..Config::new(stack.memory_bytes) };
    let served = Served::new(engine, stack.store.build(seed), &objects)?;
    let mount = Replies::new(served, stack.costs, stack.replier_count, seed);
    let algorithm = OnDemand::linux_6_12(stack.kernel_readahead_bytes / PAGE_BYTES).with_io_pages(IO_PAGES);
    let all_bytes: u64 = objects.iter().map(|object| object.size).sum();
    let config = KernelConfig {
        // Threads that share an open file share its readahead.
        file_state: FileState::Shared(objects.len()),
        // A mount has no queue that holds requests back.
        unplug: Unplug::Always,
        request_bytes_max: FUSE_REQUEST_BYTES_MAX,
        page_cost_ns: stack.costs.page_ns,
        // Nothing is read twice, and nothing is to be reclaimed.
        ..KernelConfig::linux_2_6(2 * all_bytes / PAGE_BYTES + 16)
    };
    let mut source = Clients::new(objects, threads(stack, readers, Time(until_ns), seed));
    KernelWorld::new(config, Box::new(algorithm), Box::new(mount))
        .run(&mut source)
        .map_err(|stuck| Error::Stuck { cell: stack.policy.name().to_owned(), stuck })
}

/// The largest single request, however small the kernel's window is.
//= linux 6.12 mm/backing-dev.c, mm/readahead.c
const IO_PAGES: u64 = 32;
/// The largest request to a FUSE mount: 256 pages.
//= linux 6.12 fs/fuse/fuse_i.h
const FUSE_REQUEST_BYTES_MAX: u64 = 1 << 20;

/// A thread of a reader.
struct Thread<'a> {
    object: ObjectId,
    /// The time that it takes before the next read.
    pause_ns: u64,
    is_pausing: bool,
    request_ns: u64,
    until: Time,
    rest: Rc<RefCell<std::slice::Iter<'a, Extent>>>,
    numbers: Rc<RefCell<Numbers>>,
}

fn threads<'a>(stack: &Stack, readers: &'a [Readers], until: Time, seed: u64) -> Vec<Box<dyn Client + 'a>> {
    let numbers = Rc::new(RefCell::new(Numbers::new(seed)));
    let mut threads: Vec<Box<dyn Client + 'a>> = Vec::new();
    for (object, readers) in (0..).map(ObjectId).zip(readers) {
        let rest = Rc::new(RefCell::new(readers.reads.iter()));
        threads.extend((0..readers.thread_count).map(|_| {
            Box::new(Thread {
                object,
                pause_ns: readers.open_ns,
                is_pausing: false,
                request_ns: stack.costs.request_ns,
                until,
                rest: Rc::clone(&rest),
                numbers: Rc::clone(&numbers),
            }) as Box<dyn Client + 'a>
        }));
    }
    threads
}

impl Client for Thread<'_> {
    fn next(&mut self, now: Time) -> Action {
        self.is_pausing = !self.is_pausing;
        if self.is_pausing {
            let next_ns = about(self.request_ns, &mut self.numbers.borrow_mut());
            return Action::Pause(std::mem::replace(&mut self.pause_ns, next_ns));
        }
        if now >= self.until {
            return Action::End;
        }
        let read = self.rest.borrow_mut().next().copied();
        read.map_or(Action::End, |extent| Action::read(self.object, extent))
    }
}

/// Anything up to twice `mean_ns`.
fn about(mean_ns: u64, numbers: &mut Numbers) -> u64 {
    numbers.below(2 * mean_ns + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(policy: PolicyKind) -> Stack {
        Stack {
            kernel_readahead_bytes: 128 << 10,
            policy,
            memory_bytes: 64 << 20,
            store: Preset::from_name("demo").unwrap(),
            costs: Costs { request_ns: 1_000, page_ns: 500, reply_ns: 10_000, reply_page_ns: 500 },
            replier_count: 2,
        }
    }

    fn forward(file_bytes: u64, thread_count: usize) -> Readers {
        let reads = (0..file_bytes / 65536).map(|index| Extent::new(index * 65536, 65536)).collect();
        Readers { file_bytes, open_ns: 20_000_000, thread_count, reads }
    }

    #[test]
    fn without_readahead_the_kernels_own_is_left() {
        let run = predict(&stack(PolicyKind::None), &[forward(4 << 20, 1)], u64::MAX, 1).unwrap();
        assert_eq!((run.read_count, run.read_bytes), (64, 4 << 20));
        assert_eq!(run.device.read_bytes, 4 << 20);
        assert_eq!(run.device.read_count, 32, "requests of 128 KiB");
        // Two at a time, each 10 ms and two packets of 0.8 ms, after the opening.
        let ms = run.elapsed_ns / 1_000_000;
        assert!((20 + 16 * 11..=20 + 16 * 12 + 12).contains(&ms), "{ms} ms");
    }

    #[test]
    fn adaptive_fills_the_link_and_time_ends_it() {
        let readers = [forward(32 << 20, 1), forward(32 << 20, 8)];
        let run = predict(&stack(PolicyKind::Adaptive), &readers, u64::MAX, 1).unwrap();
        let mb_s = run.read_bytes as f64 / 1e6 / (run.elapsed_ns as f64 / 1e9);
        assert!((200.0..400.0).contains(&mb_s), "{mb_s} MB/s");
        assert_eq!(run.device.read_bytes, 64 << 20);

        let cut = predict(&stack(PolicyKind::None), &readers, 100_000_000, 1).unwrap();
        assert!(cut.read_bytes > 0 && cut.elapsed_ns < 130_000_000);
        let nothing = predict(&stack(PolicyKind::None), &readers, 0, 1).unwrap();
        assert_eq!((nothing.read_count, nothing.elapsed_ns), (0, 20_000_000));
        let again = predict(&stack(PolicyKind::Adaptive), &readers, u64::MAX, 1).unwrap();
        assert_eq!(again, run, "the same seed, the same run");
    }
}
