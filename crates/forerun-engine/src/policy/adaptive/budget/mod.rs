//! Whether bytes may have memory and device: what one object's readahead may cost ([`account`]), and what
//! one stream may have of both ([`share`]).

mod account;
mod balance;
mod share;

pub(super) use account::{Account, Expected};
pub(super) use balance::{Balance, Credit};
pub(super) use share::Shares;
