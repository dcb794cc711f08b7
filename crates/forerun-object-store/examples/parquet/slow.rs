//! A store in memory as one behind a network: far away, and slow over each connection.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

const LATENCY: Duration = Duration::from_millis(10);
/// For 80 MB/s. The clock of tokio counts milliseconds.
const CHUNK_BYTES: usize = 80_000;
const CHUNK_TIME: Duration = Duration::from_millis(1);

/// Each get waits [`LATENCY`], and [`CHUNK_TIME`] before each chunk of its body.
#[derive(Debug, Default)]
pub(crate) struct SlowStore {
    pub(crate) objects: InMemory,
}

impl fmt::Display for SlowStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SlowStore")
    }
}

#[async_trait]
impl ObjectStore for SlowStore {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        tokio::time::sleep(LATENCY).await;
        let is_head = options.head;
        let got = self.objects.get_opts(location, options).await?;
        if is_head { Ok(got) } else { slowed(got).await }
    }

    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.objects.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.objects.put_multipart_opts(location, options).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.objects.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.objects.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.objects.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.objects.copy_opts(from, to, options).await
    }
}

/// The same, with a body that takes its time.
async fn slowed(got: GetResult) -> Result<GetResult> {
    let (meta, range) = (got.meta.clone(), got.range.clone());
    let (attributes, extensions) = (got.attributes.clone(), got.extensions.clone());
    let bytes = got.bytes().await?;
    let starts = (0..bytes.len()).step_by(CHUNK_BYTES);
    let chunks: Vec<Bytes> = starts.map(|at| bytes.slice(at..bytes.len().min(at + CHUNK_BYTES))).collect();
    let body = futures::stream::iter(chunks).then(|chunk| async move {
        tokio::time::sleep(CHUNK_TIME).await;
        Ok(chunk)
    });
    Ok(GetResult { payload: GetResultPayload::Stream(body.boxed()), meta, range, attributes, extensions })
}
