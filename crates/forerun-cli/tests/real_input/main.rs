//! What is really out there, mounted: it must read as it would without us.

mod directory;
mod nginx;
mod store;
#[path = "../support/mod.rs"]
mod support;
mod tree;
mod web;
