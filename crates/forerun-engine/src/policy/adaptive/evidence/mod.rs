//! Reads that belong to no stream yet: when they are enough for one, and what may be fetched
//! before they are.
//!
//! * [`candidate`] gathers reads near one another, and says when they are a stream;
//! * [`rhythm`] finds even steps among reads far apart;
//! * [`zone`] finds a stream in much disorder;
//! * [`chance`] says whether another stream may well be an accident;
//! * [`guess`] bets a little on a candidate's first read;
//! * [`procession`] helps candidates whose turn comes next.

mod candidate;
mod chance;
mod guess;
mod procession;
mod rhythm;
mod zone;

pub(super) use candidate::Candidate;
pub(super) use chance::Chance;
pub(super) use guess::Guesses;
pub(super) use procession::Procession;
pub(super) use rhythm::Rhythm;
pub(super) use zone::Zone;
