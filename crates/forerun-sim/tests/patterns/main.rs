//! `adaptive` and every way of reading it knows, on modelled devices.

mod bed;
mod recordings;
mod table;
mod goals;
