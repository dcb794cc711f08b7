//! Disk images in the format qcow2, and the backing files below them.
//!
//! imago reads the tables and unpacks clusters. The engine fetches all bytes, so it reads ahead in images and
//! keeps their clusters in its memory. Plain clusters go from there to the client, and imago does not see them.
//!
//! # Invariants
//! 1. imago opens no file. The chain of backing files is made here ([`chain`]), from names that [`names`] allows.
//! 2. No call of imago waits ([`given`]). So its locks hold up nobody for as long as a store takes.
//! 3. All files of a chain have the versions that they had when the export was opened.

mod block_map;
mod chain;
mod disk_reads;
mod given;
mod header;
mod names;
mod tables;

use std::fmt;
use std::sync::Arc;

use forerun::{Entry, Error, ErrorKind, Forerun, Reader, Result, Version};
use tokio::sync::Semaphore;

use crate::sending::Pool;
use tables::{Tables, WORK_BYTES_MAX};

/// How the objects of a source are read as images.
#[derive(Debug)]
pub(super) struct Images {
    /// The tree in which backing files may be.
    backing: Option<Forerun>,
    /// Memory of tables.
    tables: Pool,
    /// Memory of work that goes on.
    rooms: Arc<Semaphore>,
}

/// An image as it was when it was opened, with its backing files.
#[derive(Debug)]
pub(super) struct Image {
    /// From the image itself down to the last backing file.
    layers: Vec<Layer>,
}

/// A file of the chain.
#[derive(Debug)]
struct Layer {
    forerun: Forerun,
    reader: Reader,
    /// None if the file is the disk as it is.
    tables: Option<Arc<Tables>>,
    /// The size of its disk.
    size: u64,
}

impl Images {
    /// Images of `forerun`. Backing files are those of `backing`.
    pub(super) fn new(forerun: &Forerun, backing: Option<Forerun>) -> Images {
        let rooms = Arc::new(Semaphore::new(WORK_BYTES_MAX));
        Images { backing, tables: Pool::new(forerun), rooms }
    }
}

impl Image {
    /// The size of the disk.
    pub(super) fn size(&self) -> u64 {
        self.layers[0].size
    }

    /// The disk, as if it was an object. Its version has those of all files.
    pub(super) fn disk_entry(&self) -> Entry {
        let versions: Vec<&str> = self.layers.iter().map(|layer| &*layer.reader.entry().version.0).collect();
        let version = format!("qcow2 {}", versions.join(" over "));
        Entry::file(self.layers[0].reader.entry().path.clone(), self.size(), Version(version.into()))
    }

    /// Whether the backing files still have the versions that this reads.
    ///
    /// # Errors
    /// If the storage cannot tell.
    pub(super) async fn has_current_backing(&self) -> Result<bool> {
        for layer in &self.layers[1..] {
            let own = layer.reader.entry();
            let found = layer.forerun.stat(&own.path).await?;
            if found.version != own.version || found.size != own.size {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The error of an image that cannot be served.
fn refused(path: &str, why: impl fmt::Display) -> Error {
    Error::new(ErrorKind::Invalid, format!("the image {path:?} cannot be served: {why}"))
}
