//! The bytes that an export shows, before any writes.

use std::sync::Arc;

use forerun::{Advice, Error, ErrorKind, Extent, Reader, Result};
use tokio::sync::OwnedSemaphorePermit;

use super::image::Image;
use crate::sending::Lent;

/// A disk. It is one version of an object, or of an image and its backing files.
#[derive(Clone, Debug)]
pub(super) enum Disk {
    /// The bytes of an object are the disk.
    Object(Reader),
    /// The disk is within an image.
    Image(Arc<Image>),
}

impl Disk {
    /// Reads `len` bytes, which have `permit` until they are sent.
    pub(super) async fn read(&self, offset: u64, len: u32, permit: OwnedSemaphorePermit) -> Result<Lent> {
        match self {
            Disk::Object(reader) => Ok(Lent::leased(reader.lease(offset, len as usize).await?, permit)),
            Disk::Image(image) => image.read(offset, len, permit).await,
        }
    }

    /// Reads into `bytes`, which lie within the disk.
    pub(super) async fn read_at(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        match self {
            Disk::Object(reader) => reader.read_at(bytes, offset).await.map(drop),
            Disk::Image(image) => image.read_at(bytes, offset).await,
        }
    }

    /// Reads `len` bytes ahead.
    pub(super) async fn will_need(&self, offset: u64, len: u32) -> Result<()> {
        match self {
            Disk::Object(reader) => {
                reader.advise(Advice::WillNeed(&[Extent::new(offset, u64::from(len))]));
                Ok(())
            }
            Disk::Image(image) => image.will_need(offset, u64::from(len)).await,
        }
    }

    /// The object whose bytes are the disk.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn object(&self) -> Result<&Reader> {
        match self {
            Disk::Object(reader) => Ok(reader),
            Disk::Image(_) => Err(Error::new(ErrorKind::Denied, "the disk in an image cannot be written")),
        }
    }
}
