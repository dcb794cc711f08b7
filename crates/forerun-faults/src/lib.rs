//! Forerun over servers that fail: front ends, run loop and backends, above a simulated HTTP client.
//!
//! A *schedule* comes from a seed: what a server has and when that changes, how the server behaves, what
//! goes wrong with which request, and what a few programs read. Time is virtual, and one thread runs it
//! all, so that equal seeds run equally. The judge then wants that
//! * every byte is that of the version that was opened, and that version was there when it was opened;
//! * every read is answered once, and every operation ends in time;
//! * memory stays within its budget, and at the end all of it that is in use is cached bytes;
//! * faults and changes explain every error, and nothing is given up before its time;
//! * a password goes to no other server;
//! * no request outlives its readers.

mod answer;
mod bucket;
mod fault;
mod judge;
mod manners;
mod random;
mod read;
mod reader;
mod schedule;
mod site;
mod store;
mod web;

pub use judge::Verdict;
pub use schedule::run;

/// How to run the schedule of `seed` again and see all that happens.
pub fn replay(seed: u64) -> String {
    format!("replay it with: cargo run --release --package forerun-faults -- --seed {seed}")
}
