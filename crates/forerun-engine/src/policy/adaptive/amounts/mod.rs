//! How much a stream may have ahead, and what that may cost.
//!
//! * [`activity`] counts the streams that share memory and device just now;
//! * [`share`] says what one of them may take of both;
//! * [`worth`] says what waits and bytes are worth on the device, [`terms`] how much may be wasted
//!   there;
//! * [`ledger`] keeps what is read ahead of an object in vain below that.

mod activity;
mod ledger;
mod share;
mod terms;
mod worth;

pub(super) use activity::{Activity, Counted};
pub(super) use ledger::Ledger;
pub(super) use share::Share;
pub(super) use terms::Terms;
pub(super) use worth::{bet_bytes, fill_price, gap_bytes, near_bytes, wait_bytes};
