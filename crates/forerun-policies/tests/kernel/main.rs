//! The readahead of kernels, over a page cache that loses nothing unless told to. `io_counts.rs` has it over the
//! engine's own.

mod io_counts;
mod partial;
mod patterns;
mod read_loop;
mod recovery;
mod table;
