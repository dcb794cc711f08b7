//! Readahead, from what the policy, programs and walks ask for to the queue of fetches.

mod announced_reads;
mod lending;
mod listed;
mod walks;
mod windows;
