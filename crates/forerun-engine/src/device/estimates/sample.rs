//! The measurements of one fetch.

use super::lone::Locality;
use crate::types::{ObjectId, Time};

/// The measurements of one fetch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) object: ObjectId,
    pub(crate) offset: u64,
    /// How many fetches were dispatched before, and how many of those were in
    /// flight still.
    pub(crate) index: u64,
    pub(crate) ahead: usize,
    pub(crate) locality: Locality,
    pub(crate) dispatched: Time,
    /// Bytes all fetches had delivered by then.
    pub(crate) delivered_before: u64,
    /// When its first bytes came, and how many those were.
    pub(crate) first_arrived: Time,
    pub(crate) first_bytes: u64,
    pub(crate) bytes: u64,
}
