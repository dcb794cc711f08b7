//! Real inputs, mounted: they must read as without the mount.

mod directory;
mod nginx;
mod store;
#[path = "../support/mod.rs"]
mod support;
mod tree;
mod web;
