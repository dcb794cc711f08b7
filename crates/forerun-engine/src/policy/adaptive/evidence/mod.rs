//! How likely it is that what is predicted is read: what came of predictions of the same class.

mod answers;
mod filled;
mod heads;
mod lengths;
mod tails;

pub(super) use answers::{ASKED_MIN, Answer, Answers, DISTANCES};
pub(super) use filled::{Filled, Trust};
pub(super) use heads::{Head, Heads};
pub(super) use lengths::Lengths;
pub(super) use tails::Tails;
