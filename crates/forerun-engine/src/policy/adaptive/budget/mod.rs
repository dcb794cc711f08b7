//! The budgets of readahead: the waste of one object ([`waste`]), the cost of all guesses ([`guesses`]),
//! and one stream's share of memory and device ([`share`]).

mod guesses;
mod share;
mod waste;

pub(super) use guesses::{Balance, Credit};
pub(super) use share::Shares;
pub(super) use waste::{Account, Expected};
