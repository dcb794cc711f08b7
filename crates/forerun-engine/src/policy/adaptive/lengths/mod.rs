//! How far readers go, as far as those before them tell.
//!
//! * [`runs`] remembers how long streams were, and says how far that makes the next one worth
//!   reading ahead;
//! * [`heads`] does so for objects that are read from their start, whichever they are;
//! * [`tails`] for objects whose end is read first, and fetches what lies before it.

mod heads;
mod runs;
mod tails;
mod ways;

pub(super) use heads::{Head, Heads};
pub(super) use runs::Runs;
pub(super) use tails::Tails;
pub(super) use ways::Ways;
