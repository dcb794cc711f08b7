//! Real inputs, mounted: they must read as without the mount.

mod directory;
#[allow(dead_code, reason = "each test program uses its part")]
#[path = "../support/nginx.rs"]
mod nginx;
mod store;
#[path = "../support/mod.rs"]
mod support;
mod tree;
mod web;
