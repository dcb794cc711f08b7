//! Forerun over servers that fail: front ends, run loop and backends, above a simulated HTTP
//! client.
//!
//! A *schedule* comes from a seed. It holds the server's objects and their changes, the server's
//! behaviour, the faults of requests, and the reads of a few programs. Time is virtual, and one
//! thread runs everything, so equal seeds run equally. The judge checks that
//! * every byte is that of the version that was opened, and the version existed at the open;
//! * every read is answered once, and every operation ends in time;
//! * memory stays within its budget, and at the end all memory in use is cached bytes;
//! * faults and changes explain every error, and no retry ends too early;
//! * a password goes to no other server;
//! * no request outlives its readers.

mod answer;
mod bench;
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

/// The command that runs the schedule of `seed` again and prints its events.
pub fn replay(seed: u64) -> String {
    format!("replay it with: cargo run --release --package forerun-faults -- --seed {seed}")
}
