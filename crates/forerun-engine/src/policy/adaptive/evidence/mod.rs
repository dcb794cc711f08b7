//! The probability that predicted bytes are read, by the outcome of earlier predictions of the same class.

mod answers;
mod filled;
mod heads;
mod lengths;
mod tails;

/// The most objects that heads, and tails, remember.
const OBJECTS_MAX: usize = 256;
/// Fewer of a kind are no evidence: two may be chance.
pub(super) const ENOUGH: usize = 3;

pub(super) use answers::{ASKED_MIN, Answer, Answers, DISTANCES};
pub(super) use filled::{Filled, Trust};
pub(super) use heads::{Head, Heads};
pub(super) use lengths::Lengths;
pub(super) use tails::Tails;
