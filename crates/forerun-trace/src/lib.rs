//! Recorded accesses: streaming readers and writers for each format, and seeded generators of
//! access patterns.
//!
//! [`Reader`] turns a file of any known [`Format`] into an iterator of [`Access`]; [`Writer`] does
//! the reverse. Neither holds more than one record and the names of the files. Two kinds need more:
//! formats that refer to earlier records keep the last 65,536, and strace's keeps a few bytes for
//! each opened file.
//!
//! A malformed file ends with an [`Error`] that names the file, the record and the reason. A file that was
//! cut is malformed. That is a text file without its last line end, a binary file that ends inside a
//! record, or compressed data without its end.

#![forbid(unsafe_code)]

mod access;
mod block;
mod bytes;
mod detect;
mod error;
mod files;
mod format_table;
mod formats;
pub mod generate;
mod input;
mod lines;
mod reader;
mod recent;
mod shape;
mod summary;
mod text;
mod writer;

pub use access::{Access, Dependency, Extent, Moment, Op};
pub use error::{Error, Position, Result};
pub use files::{FileId, Files};
pub use format_table::Format;
pub use reader::{ReadOptions, Reader};
pub use shape::{Cut, Merge, Repair};
pub use summary::Summary;
pub use writer::{Writer, Written};
