//! A schedule with knowledge of the future. Whenever the device is free, it fetches the blocks that are
//! needed next, and evicts those that are needed last.
//!
//! With one block at a time this is the schedule *aggressive* of Cao et al. (1995). More blocks at a time
//! make larger and better sorted requests, but a client waits longer for each. So several sizes are tried,
//! and the fastest counts. It is a schedule of the real source on the real device, hence an upper bound of
//! the optimum.
//!
//! Some bytes do not count as memory. A disk drops bytes between two wanted extents as they come. Bytes
//! that a client waits for are its own once they have come.

mod cache;
mod foresight;
mod player;
mod requests;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::footprint::BLOCK_BYTES;
use super::future::Future;
use crate::device::{Costs, Device};
use crate::source::Source;
use crate::world::Stuck;
use player::Player;

/// The memory and the device of a schedule with knowledge of the future.
#[derive(Clone, Copy, Debug)]
pub struct Clairvoyance {
    /// Memory for blocks, data in flight included, in bytes.
    pub memory_bytes: u64,
    /// Costs of the device: they decide how requests are cut, joined and sorted.
    pub costs: Costs,
    /// How many reads and writes ahead the future is known; all of it if `None`.
    pub look_ahead: Option<usize>,
    /// How many batch sizes are tried at the same time, on as many threads.
    pub threads: usize,
}

/// The best schedule that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Schedule {
    /// From the beginning to the last step's end, in nanoseconds.
    pub elapsed_ns: u64,
    /// The most blocks that it asks for at a time.
    pub batch_blocks: u64,
}

/// Batch sizes to try: from one block to half the memory or all that is touched.
pub fn batches(future: &Future, memory_bytes: u64) -> Vec<u64> {
    let half = memory_bytes / BLOCK_BYTES / 2;
    let largest = half.min(u64::from(future.footprint.block_count())).max(1);
    let mut batches = vec![1, 8, 64, 512, 2048, 8192, 32_768];
    batches.retain(|batch| *batch < largest);
    batches.push(largest);
    batches
}

/// Plays the source against the device with each of `batches` (in blocks, not empty),
/// and gives the fastest.
///
/// # Errors
/// The source waits for something that does not happen.
pub fn clairvoyant<'a>(
    make_source: &(dyn Fn() -> Box<dyn Source + 'a> + Sync),
    make_device: &(dyn Fn() -> Box<dyn Device> + Sync),
    future: &Future,
    clairvoyance: &Clairvoyance,
    batches: &[u64],
) -> Result<Schedule, Stuck> {
    let next = AtomicUsize::new(0);
    // A run that is slower than the best one need not go on.
    let best_ns = AtomicU64::new(u64::MAX);
    let found: Mutex<Vec<Result<Schedule, Stuck>>> = Mutex::default();
    let work = || {
        while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            let player = Player::new(make_device(), future, clairvoyance, (*batch).max(1));
            let Some(played) = player.play(&mut *make_source(), &best_ns).transpose() else { continue };
            if let Ok(elapsed_ns) = played {
                best_ns.fetch_min(elapsed_ns, Ordering::Relaxed);
            }
            let schedule = played.map(|elapsed_ns| Schedule { elapsed_ns, batch_blocks: *batch });
            found.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(schedule);
        }
    };
    std::thread::scope(|scope| {
        (1..clairvoyance.threads.min(batches.len())).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    let found = found.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    let schedules: Vec<Schedule> = found.into_iter().collect::<Result<_, _>>()?;
    Ok(schedules.into_iter().min().expect("the fastest batch size runs to its end"))
}
