//! The `forerun` program as its users meet it.

mod daemon;
mod descriptor;
mod ending;
mod explain;
mod learn;
mod lists;
mod mount;
mod overlays;
mod passed;
mod passthrough;
mod secrets;
mod support;
mod usage;
mod users;
#[path = "../../../forerun-backend/tests/answers/mod.rs"]
mod web;
