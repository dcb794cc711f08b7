//! The `forerun` program as its users meet it.

mod daemon;
mod learn;
mod mount;
mod support;
mod usage;
