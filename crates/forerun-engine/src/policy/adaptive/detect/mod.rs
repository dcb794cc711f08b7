//! Predictions of the next reads: streams that go up, down or in strides, and reads near earlier ones.
//!
//! * [`stream`] is a stream, [`belongs`] decides whether a read belongs to it, [`shape`] has its direction;
//! * [`candidate`] decides when reads of no stream become one, [`candidates`] which of them are next, and
//!   [`strides`] finds even steps;
//! * [`region`] finds regions, and [`nearby`] reads near earlier ones.

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
