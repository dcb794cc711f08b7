//! A bracket for the optimum: a time that no policy can beat, and the best schedule found with knowledge of
//! the future.

mod clairvoyant;
mod footprint;
mod future;
mod lower;

pub use clairvoyant::{Clairvoyance, Schedule, batches, clairvoyant};
pub use future::Future;
pub use lower::lower;

use crate::device::Device;
use crate::source::Source;
use crate::world::Stuck;

/// A bracket around the best possible time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// No schedule can be faster, in nanoseconds.
    pub lower_ns: u64,
    /// The time of the best clairvoyant schedule that was found, in nanoseconds:
    /// an upper bound of the optimum.
    pub clairvoyant_ns: u64,
    /// How many blocks at a time that schedule fetches at most.
    pub batch_blocks: u64,
}

/// The bracket for the source of `make_source` on the device of `make_device`.
///
/// The source must do the same again and again, and must not do less because it waits. A source that stops
/// at a given time has no best time. The lower bound takes it for granted that no client is later because
/// another one is earlier. With [`Clairvoyance::look_ahead`] the upper end is not the best schedule, only
/// the best with that much foresight.
///
/// # Errors
/// The source waits for something that does not happen.
pub fn bounds<'a>(
    make_source: &(dyn Fn() -> Box<dyn Source + 'a> + Sync),
    make_device: &(dyn Fn() -> Box<dyn Device> + Sync),
    read_cost_ns: u64,
    clairvoyance: &Clairvoyance,
) -> Result<Bounds, Stuck> {
    let future = Future::record(&mut *make_source(), read_cost_ns)?;
    let lower_ns = lower(&future, clairvoyance.memory_bytes, &clairvoyance.costs);
    let batches = batches(&future, clairvoyance.memory_bytes);
    let schedule = clairvoyant(make_source, make_device, &future, clairvoyance, &batches)?;
    debug_assert!(lower_ns <= schedule.elapsed_ns, "{lower_ns} ns is no lower bound of {schedule:?}");
    Ok(Bounds { lower_ns, clairvoyant_ns: schedule.elapsed_ns, batch_blocks: schedule.batch_blocks })
}
