//! What is fetched next: readers who wait before anything read ahead, within
//! what the device can use at once.

mod anticipation;
mod company;
mod flights;
mod late;
mod pending;
mod rivals;
mod throttle;
mod visit;

pub(crate) use anticipation::Anticipation;
pub(crate) use flights::{Flight, Flights};
pub(crate) use late::Late;
pub(crate) use pending::{Pending, Queued};
pub(crate) use rivals::Rivals;
pub(crate) use throttle::Throttle;
pub(crate) use visit::Visited;
