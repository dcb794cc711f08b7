//! An image that its caller writes.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use rustix::io::Errno;

use super::image::Image;
use super::{PIECES_MAX, aio, pieces};
use crate::{ByteStream, Error, ErrorKind, Result, Writable, Zeroing};

/// An image that is open for writes, and locked. librbd caches nothing, so an operation that has ended lasts.
#[derive(Debug)]
pub(super) struct WritableImage(pub(super) Arc<Image>);

#[async_trait]
impl Writable for WritableImage {
    async fn fetch(&self, extent: Range<u64>) -> Result<ByteStream> {
        let image = Arc::clone(&self.0);
        let read = move |extent| {
            let image = Arc::clone(&image);
            async move { aio::read(&image, extent).await }
        };
        Ok(futures::stream::iter(pieces(extent).map(read)).buffered(PIECES_MAX).boxed())
    }

    async fn write(&self, offset: u64, bytes: Bytes) -> Result<()> {
        aio::write(&self.0, offset, bytes).await
    }

    async fn discard(&self, extent: Range<u64>) -> Result<()> {
        aio::discard(&self.0, extent).await
    }

    async fn write_zeroes(&self, extent: Range<u64>, zeroing: Zeroing) -> Result<()> {
        if zeroing.has_space && zeroing.is_fast {
            let message = format!("{}: zeros with space take as long as other bytes", self.0.url());
            return Err(
                Error::new(ErrorKind::Permanent, message).with_source(std::io::Error::from(Errno::OPNOTSUPP))
            );
        }
        aio::write_zeroes(&self.0, extent, zeroing.has_space).await
    }

    async fn flush(&self) -> Result<()> {
        aio::flush(&self.0).await
    }
}
