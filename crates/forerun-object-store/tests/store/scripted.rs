//! A store in memory that counts the gets, and fails as a test says.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// The error of a get instead of its answer.
pub(crate) type Trouble = Box<dyn Fn(&GetOptions) -> Option<Error> + Send + Sync>;

#[derive(Default)]
pub(crate) struct Scripted {
    pub(crate) objects: InMemory,
    pub(crate) trouble: Mutex<Option<Trouble>>,
    /// Whether bodies break after their first byte.
    pub(crate) breaks: Mutex<Option<fn() -> Error>>,
    pub(crate) head_count: AtomicUsize,
    pub(crate) get_count: AtomicUsize,
    /// Whether objects have neither ETag nor an exact time.
    pub(crate) is_coarse: bool,
}

impl Scripted {
    pub(crate) fn heads(&self) -> usize {
        self.head_count.load(Ordering::Relaxed)
    }

    pub(crate) fn gets(&self) -> usize {
        self.get_count.load(Ordering::Relaxed)
    }

    pub(crate) fn fail(&self, trouble: impl Fn(&GetOptions) -> Option<Error> + Send + Sync + 'static) {
        *self.trouble.lock().unwrap() = Some(Box::new(trouble));
    }
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scripted")
    }
}

impl fmt::Display for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scripted")
    }
}

#[async_trait]
impl ObjectStore for Scripted {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let count = if options.head { &self.head_count } else { &self.get_count };
        count.fetch_add(1, Ordering::Relaxed);
        if let Some(error) = self.trouble.lock().unwrap().as_ref().and_then(|trouble| trouble(&options)) {
            return Err(error);
        }
        let mut got = self.objects.get_opts(location, options).await?;
        if self.is_coarse {
            got.meta = ObjectMeta { e_tag: None, last_modified: std::time::UNIX_EPOCH.into(), ..got.meta };
        }
        let breaks = *self.breaks.lock().unwrap();
        if let Some(error) = breaks {
            let body = futures::stream::iter([Ok(Bytes::from_static(b"x")), Err(error())]);
            got.payload = GetResultPayload::Stream(body.boxed());
        }
        Ok(got)
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
