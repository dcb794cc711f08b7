//! A Parquet file in an object store, as the crate `parquet` writes and reads it.

use std::error::Error;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, TryFutureExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::async_reader::AsyncFileReader;
use parquet::arrow::{ArrowWriter, ParquetRecordBatchStreamBuilder, ProjectionMask};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::properties::WriterProperties;

pub(crate) const COLUMNS: usize = 8;
/// Groups of rows. Each has a chunk of 512 KiB for every column.
const GROUPS: usize = 24;
const GROUP_ROWS: usize = (512 << 10) / size_of::<i64>();

/// A file of uncompressed columns. Each number tells where it is.
pub(crate) fn columns() -> Result<Vec<u8>, Box<dyn Error>> {
    let group = |group: usize| {
        let rows = group * GROUP_ROWS..(group + 1) * GROUP_ROWS;
        let column = |column: usize| {
            let numbers = rows.clone().map(|row| (row * COLUMNS + column) as i64);
            (format!("column{column}"), Arc::new(Int64Array::from_iter_values(numbers)) as ArrayRef)
        };
        RecordBatch::try_from_iter((0..COLUMNS).map(column))
    };
    let properties = WriterProperties::builder().set_dictionary_enabled(false).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), group(0)?.schema(), Some(properties))?;
    for number in 0..GROUPS {
        writer.write(&group(number)?)?;
        writer.flush()?;
    }
    Ok(writer.into_inner()?)
}

/// Reads `columns` of the file at `location`, group by group.
pub(crate) async fn scan(
    store: Arc<dyn ObjectStore>,
    location: &Path,
    columns: &[usize],
) -> Result<Vec<RecordBatch>, Box<dyn Error>> {
    let meta = store.head(location).await?;
    let builder = ParquetRecordBatchStreamBuilder::new(StoredFile { store, meta }).await?;
    let mask = ProjectionMask::leaves(builder.parquet_schema(), columns.iter().copied());
    let batches = builder.with_projection(mask).with_batch_size(GROUP_ROWS).build()?;
    Ok(batches.try_collect().await?)
}

struct StoredFile {
    store: Arc<dyn ObjectStore>,
    meta: ObjectMeta,
}

impl AsyncFileReader for StoredFile {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, Result<Bytes, ParquetError>> {
        self.store.get_range(&self.meta.location, range).map_err(outside).boxed()
    }

    fn get_byte_ranges(
        &mut self,
        ranges: Vec<Range<u64>>,
    ) -> BoxFuture<'_, Result<Vec<Bytes>, ParquetError>> {
        let StoredFile { store, meta } = self;
        async move { store.get_ranges(&meta.location, &ranges).await.map_err(outside) }.boxed()
    }

    fn get_metadata<'a>(
        &'a mut self,
        options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, Result<Arc<ParquetMetaData>, ParquetError>> {
        let size = self.meta.size;
        let footer = ParquetMetaDataReader::new().with_arrow_reader_options(options);
        footer.load_and_finish(self, size).map_ok(Arc::new).boxed()
    }
}

fn outside(error: object_store::Error) -> ParquetError {
    ParquetError::External(error.into())
}
