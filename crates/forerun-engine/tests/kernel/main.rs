//! The readahead of kernels, over a page cache that loses nothing unless told to.

mod partial;
mod patterns;
mod read_loop;
mod recovery;
mod table;
