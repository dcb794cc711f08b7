//! Scans columns of a Parquet file, with Forerun around a slow store and without.
//!
//! The store is 10 ms away, and each of its connections carries 80 MB/s. Time is virtual: it passes only while
//! everything waits for the store, so the figures are the same on any machine.

mod file;
pub(crate) mod slow;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::RecordBatch;
use forerun::Options;
use forerun_object_store::ForerunStore;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use tokio::runtime::{Builder, Handle};
use tokio::time::Instant;

use file::COLUMNS;
use slow::SlowStore;

/// Forerun makes each of the scans at least this many times as fast.
const GAIN: u32 = 3;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let runtime = Builder::new_current_thread().enable_all().start_paused(true).build()?;
    runtime.block_on(compare())
}

async fn compare() -> Result<(), Box<dyn Error>> {
    let location = Path::from("columns.parquet");
    let store = Arc::new(SlowStore::default());
    store.put(&location, file::columns()?.into()).await?;
    println!("columns    without       with   gain");
    for columns in [(0..COLUMNS).collect(), vec![1, 5], vec![2]] {
        let options = Options::default().with_runtime(Handle::current());
        let ahead = Arc::new(ForerunStore::new(Arc::clone(&store) as _, options)?);
        let (expected, without) = timed(Arc::clone(&store) as _, &location, &columns).await?;
        let (read, with) = timed(ahead, &location, &columns).await?;
        let gain = without.as_secs_f64() / with.as_secs_f64();
        println!("{} of {COLUMNS} {without:>12.0?} {with:>10.0?} {gain:>5.1}×", columns.len());
        assert!(read == expected, "other rows of the columns {columns:?}");
        assert!(with * GAIN <= without, "the columns {columns:?}");
    }
    Ok(())
}

async fn timed(
    store: Arc<dyn ObjectStore>,
    location: &Path,
    columns: &[usize],
) -> Result<(Vec<RecordBatch>, Duration), Box<dyn Error>> {
    let started = Instant::now();
    let batches = file::scan(store, location, columns).await?;
    Ok((batches, started.elapsed()))
}
