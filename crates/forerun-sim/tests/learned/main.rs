//! Runs that repeat earlier ones, or do not, with what was learned of those.

mod bed;
mod boots;
mod others;
#[path = "../../../forerun-trace/tests/support/shared.rs"]
mod recordings;
mod trail;
