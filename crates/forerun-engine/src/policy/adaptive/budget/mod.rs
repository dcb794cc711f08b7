//! The budgets of readahead: the waste of one object ([`account`]), the cost of all guesses ([`balance`]),
//! and one stream's share of memory and device ([`share`]).

mod account;
mod balance;
mod share;

pub(super) use account::{Account, Expected};
pub(super) use balance::{Balance, Credit};
pub(super) use share::Shares;
