//! `adaptive` and every way of reading it knows, on modelled devices.

mod bed;
mod goals;
mod many;
mod mixes;
mod recordings;
mod walks;
