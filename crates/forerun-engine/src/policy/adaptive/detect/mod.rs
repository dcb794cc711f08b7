//! Predictions of the next reads: streams that go up, down or in even steps, and places near earlier reads.
//!
//! * [`stream`] is what goes on, [`belongs`] says whether a read is its, [`shape`] which way it goes;
//! * [`candidate`] says when reads of no stream are one, [`candidates`] which of them most likely are next,
//!   [`strides`] when steps are even;
//! * [`region`] knows what is read all over, [`nearby`] what is read near what was.

mod belongs;
mod candidate;
mod candidates;
mod nearby;
mod region;
mod shape;
mod stream;
mod strides;

/// The most streams, candidates, areas and places that are kept of one object.
pub(super) const KEPT_MAX: usize = 128;

pub(super) use belongs::{PATIENCE_GAPS, PATIENCE_READS};
pub(super) use candidate::{Candidate, DISORDER_REQUESTS};
pub(super) use candidates::Candidates;
pub(super) use nearby::{CHUNK_BYTES, Nearby};
pub(super) use region::Region;
pub(super) use shape::Shape;
pub(super) use stream::Stream;
pub(super) use strides::Strides;
