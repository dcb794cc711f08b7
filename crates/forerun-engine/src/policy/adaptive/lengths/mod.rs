//! How far readers go, as far as those before them tell.
//!
//! * [`runs`] remembers how long streams were, and says how far that makes the next one worth
//!   reading ahead;
//! * [`heads`] does so for objects that are read from their start, whichever they are.

mod heads;
mod runs;
mod ways;

pub(super) use heads::{Head, Heads};
pub(in crate::policy) use runs::Runs;
pub(super) use ways::Ways;
