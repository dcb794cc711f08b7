//! The `forerun` program as its users meet it.

mod daemon;
mod mount;
mod support;
mod usage;
