//! The price of readahead. Bytes are fetched if the waits that they save are worth more than the bytes that
//! they waste.
//!
//! * [`of`] is the price of a wait. The [lengths](super::evidence::Lengths) of earlier streams tell by it how
//!   far the next one is read ahead;
//! * [`bets`] decides about bytes that no stream expects.

mod bets;

use crate::ablation::Rule;

/// Each such share of the allowance that is lost halves the worth of a wait.
const PRICE_SHARE: u64 = 8;

/// The bytes that a wait is worth: `wait`, or fewer if its object has lost `lost` bytes of its `allowance`.
pub(super) fn of(wait: u64, lost: u64, allowance: u64) -> u64 {
    let parts = if Rule::Price.is_off() { 0 } else { PRICE_SHARE * lost };
    wait >> (parts / allowance.max(1)).min(u64::from(u64::BITS - 1))
}
