//! What is fetched next: readers who wait before anything read ahead, within
//! what the device can use at once.

mod anticipation;
mod flights;
mod late;
mod pending;
mod rivals;

pub(crate) use anticipation::Anticipation;
pub(crate) use flights::{Flight, Flights};
pub(crate) use late::Late;
pub(crate) use pending::Pending;
pub(crate) use rivals::Rivals;

/// Who was not there for so many latencies has gone.
const GONE_LATENCIES: u64 = 16;
