//! Scans of a file of columns in virtual time, where speed does not depend on the machine.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use forerun::Options;
use forerun_object_store::ForerunStore;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::content;
use super::parquet::slow::SlowStore;

/// As a Parquet file: groups of rows, each with a chunk of every column.
const GROUPS: u64 = 24;
const COLUMNS: u64 = 8;
const CHUNK_BYTES: u64 = 512 << 10;

#[tokio::test(start_paused = true)]
async fn scans_are_the_same_and_of_all_columns_three_times_as_fast() {
    let inner = Arc::new(SlowStore::default());
    let location = Path::from("columns");
    let size = (GROUPS * COLUMNS * CHUNK_BYTES) as usize;
    inner.objects.put(&location, content(1, size).into()).await.unwrap();
    for (columns, gain) in [((0..COLUMNS).collect(), 3), (vec![1, 5], 1)] {
        let options = Options::default().with_runtime(Handle::current());
        let store = ForerunStore::new(Arc::clone(&inner) as _, options).unwrap();
        let (expected, without) = scan(&*inner, &location, &columns).await;
        let (read, with) = scan(&store, &location, &columns).await;
        assert!(read == expected, "other bytes of the columns {columns:?}");
        assert!(gain * with <= without, "columns {columns:?}: {with:?} with Forerun, {without:?} without");
    }
}

/// Reads the chunks of `columns`, group by group, as a reader of Parquet does.
async fn scan(store: &dyn ObjectStore, location: &Path, columns: &[u64]) -> (Vec<Bytes>, Duration) {
    let start = Instant::now();
    let mut read = Vec::new();
    for group in 0..GROUPS {
        let chunk = |column: &u64| -> Range<u64> {
            let offset = (group * COLUMNS + column) * CHUNK_BYTES;
            offset..offset + CHUNK_BYTES
        };
        let chunks: Vec<Range<u64>> = columns.iter().map(chunk).collect();
        read.extend(store.get_ranges(location, &chunks).await.unwrap());
    }
    (read, start.elapsed())
}
