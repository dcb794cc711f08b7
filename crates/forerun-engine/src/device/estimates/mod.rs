//! Estimates from the results of fetches. Each module measures one thing, and `measure.rs` feeds them.

mod carried;
mod filter;
mod growth;
mod load;
mod lone;
mod sample;
mod spread;

pub(super) use carried::Carried;
pub(super) use filter::Filter;
pub(super) use growth::Growth;
pub(super) use load::Load;
#[cfg(test)]
pub(super) use lone::Locality;
pub(super) use lone::{Lone, NEAR_BYTES};
pub(crate) use sample::Sample;
pub(super) use spread::Spread;
