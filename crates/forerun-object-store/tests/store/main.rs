//! A store through Forerun against the same store without it.

#![expect(clippy::single_range_in_vec_init, reason = "`get_ranges` takes a slice of ranges, also of one")]

mod far;
mod http;
mod matrix;
#[path = "../../examples/parquet/main.rs"]
mod parquet;
mod replaced;
mod scripted;
mod troubled;
mod written;

use std::sync::Arc;

use bytes::Bytes;
use forerun::Options;
use forerun_object_store::ForerunStore;
use object_store::ObjectStore;

/// `len` bytes that tell where they are, and differ by `seed`.
fn content(seed: u8, len: usize) -> Bytes {
    (0..len).map(|at| (at % 251) as u8 ^ (at / 251) as u8 ^ seed).collect()
}

fn over(inner: Arc<dyn ObjectStore>) -> ForerunStore {
    ForerunStore::new(inner, Options::default()).expect("default options can be kept")
}

#[test]
fn parquet_reads_the_same_rows_three_times_as_fast() {
    parquet::main().unwrap();
}
