//! The `forerun` program as its users meet it.

mod daemon;
mod explain;
mod learn;
mod mount;
mod support;
mod usage;
