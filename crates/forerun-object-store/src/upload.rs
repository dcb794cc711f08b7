//! An upload in parts, whose end is a write.

use std::sync::Arc;

use async_trait::async_trait;
use object_store::path::Path;
use object_store::{MultipartUpload, PutPayload, PutResult, Result, UploadPart};

use crate::known::KnownObjects;

/// Forgets what was known about the object when the upload ends.
#[derive(Debug)]
pub(crate) struct Upload {
    pub(crate) inner: Box<dyn MultipartUpload>,
    pub(crate) location: Path,
    pub(crate) known: Arc<KnownObjects>,
}

#[async_trait]
impl MultipartUpload for Upload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        self.inner.put_part(data)
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let result = self.inner.complete().await;
        self.known.forget(&self.location);
        result
    }

    async fn abort(&mut self) -> Result<()> {
        self.inner.abort().await
    }
}
