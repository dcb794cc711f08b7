//! The writes of clients, and the file that keeps them.

mod changed_file;
mod claims;
mod flushes;

use std::io;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use forerun::{Error, ErrorKind, Result, Zeroing};
use rustix::io::Errno;
use tokio::task::JoinError;

use super::direct::WritableObject;
use super::disk::Disk;
use super::overlay::Overlay;
use super::protocol::export_flags;

pub(super) use changed_file::ChangedFile;
#[cfg(test)]
pub(super) use changed_file::FileStep;
pub(super) use claims::{Claim, Claims};
pub(super) use flushes::Flushes;

/// Where the writes of an export go.
#[derive(Clone, Debug)]
pub(super) enum Changes {
    /// Nobody may write.
    Refused,
    /// Beside the object, which stays as it is.
    Overlay(Arc<Overlay>),
    /// To the object itself.
    Direct(Arc<WritableObject>),
}

impl Changes {
    /// The flags of an export with these.
    pub(super) fn flags(&self) -> u16 {
        match self {
            Changes::Refused => export_flags::READ_ONLY,
            _ => {
                export_flags::SEND_FUA
                    | export_flags::SEND_TRIM
                    | export_flags::SEND_WRITE_ZEROES
                    | export_flags::SEND_FAST_ZERO
            }
        }
    }

    /// Writes `bytes` over `disk`. Reads that begin after it see them.
    pub(super) async fn write(
        &self,
        disk: &Disk,
        offset: u64,
        bytes: Bytes,
        held: impl Send + 'static,
    ) -> Result<()> {
        match self {
            Changes::Refused => Err(refused()),
            Changes::Overlay(overlay) => overlay.write(disk, offset, bytes, held).await,
            Changes::Direct(object) => object.write(disk.object()?, offset, bytes, held).await,
        }
    }

    /// Gives up `len` bytes, which read as zeros or as before from then on.
    pub(super) async fn trim(&self, disk: &Disk, offset: u64, len: u32) -> Result<()> {
        match self {
            Changes::Refused => Err(refused()),
            Changes::Overlay(overlay) => overlay.trim(offset, len).await,
            Changes::Direct(object) => object.trim(disk.object()?, offset, len).await,
        }
    }

    /// Writes `len` zeros.
    pub(super) async fn write_zeroes(
        &self,
        disk: &Disk,
        offset: u64,
        len: u32,
        zeroing: Zeroing,
    ) -> Result<()> {
        match self {
            Changes::Refused => Err(refused()),
            Changes::Overlay(overlay) => overlay.write_zeroes(disk, offset, len, zeroing).await,
            Changes::Direct(object) => object.write_zeroes(disk.object()?, offset, len, zeroing).await,
        }
    }

    /// Makes all writes last that have ended before it, those of other connections included.
    pub(super) async fn flush(&self) -> Result<()> {
        match self {
            Changes::Refused => Ok(()),
            Changes::Overlay(overlay) => overlay.flush().await,
            Changes::Direct(object) => object.flush().await,
        }
    }
}

fn refused() -> Error {
    Error::new(ErrorKind::Denied, "the export is read-only")
}

/// Runs `work`, which waits for a disk. It goes on to its end even if nobody waits for it any more.
pub(super) async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(stopped)?
}

/// Awaits `work`, which goes on to its end even if nobody waits for it any more.
pub(super) async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    tokio::spawn(work).await.map_err(stopped)?
}

fn stopped(error: JoinError) -> Error {
    Error::new(ErrorKind::Permanent, format!("a write stopped: {error}"))
}

/// The error of the file `path`, of which `failed` says what failed.
pub(super) fn file_error(path: &Path, failed: &str, error: io::Error) -> Error {
    let advice = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; free some space, and write again",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; run as a user who may write it"
        }
        _ => "",
    };
    Error::new(ErrorKind::Permanent, format!("{}: {failed}: {error}{advice}", path.display()))
        .with_source(error)
}

/// The error where zeros would take as long as other bytes.
pub(super) fn slow() -> Error {
    Error::new(ErrorKind::Permanent, "zeros cannot be written faster than other bytes here")
        .with_source(io::Error::from(Errno::OPNOTSUPP))
}
