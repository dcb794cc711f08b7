//! Which blocks leave the cache, and when. `evict.rs` is the way in.

mod evict;
mod ghosts;
mod left;
mod pace;
mod release;

pub(crate) use evict::{Reclaim, Room};
pub(super) use ghosts::Ghosts;
pub(super) use pace::Pace;
