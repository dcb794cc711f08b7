//! Reads of files.

use std::sync::Arc;

use forerun::{ClientId, Error, ErrorKind, Kind, Reader, Result};
use futures::FutureExt;
use futures::future::BoxFuture;
use nfs3_types::nfs3::{READ3resfail, READ3resok, nfsstat3};

use super::super::protocol::{self, Credential, READ_BYTES_MAX};
use super::caller::Caller;
use super::failure::{status_of, status_of_handle};
use super::handles::VersionTag;
use super::{Outcome, Tree};
use crate::sending::{Content, Lent};
use crate::served::Bucket;

/// The bytes that a READ asks for.
#[derive(Debug)]
pub(in super::super) struct ReadPart {
    pub(in super::super) offset: u64,
    pub(in super::super) len: u32,
    /// The file ends here.
    pub(in super::super) is_end: bool,
    pub(in super::super) lent: Lent,
}

/// A file that the reply to a READ has bytes of.
#[derive(Debug)]
pub(in super::super) struct FileBytes {
    bucket: Arc<Bucket>,
    reader: Reader,
    xid: u32,
}

impl Tree {
    /// The first part of READ: the file, for the call `xid` of `client`.
    pub(in super::super) async fn open(
        &self,
        xid: u32,
        file: &[u8],
        credential: &Credential,
        client: ClientId,
    ) -> Outcome<FileBytes> {
        let (export, path, version) = self.locate(file).await?;
        let bucket = Arc::clone(&export.bucket);
        // The version of an open object is known not to change.
        let open = bucket.open_reader(&path, client, |entry| VersionTag::of(entry) == version);
        let reader = if let Some(reader) = open {
            reader
        } else {
            let entry = bucket.entry(&path).await.map_err(|error| status_of_handle(&error))?;
            match entry.kind {
                _ if VersionTag::of(&entry) != version => return Err(nfsstat3::NFS3ERR_STALE),
                Kind::File => bucket.shared_reader(&entry, client),
                Kind::Directory => return Err(nfsstat3::NFS3ERR_ISDIR),
                Kind::Symlink => return Err(nfsstat3::NFS3ERR_INVAL),
            }
        };
        if !Caller::of(credential).may_read(&self.defaults.shown(reader.entry())) {
            return Err(nfsstat3::NFS3ERR_ACCES);
        }
        Ok(FileBytes { bucket, reader, xid })
    }
}

impl FileBytes {
    /// The second part of READ: up to `count` bytes from `offset` on.
    pub(in super::super) async fn first(&self, offset: u64, count: u32) -> Outcome<ReadPart> {
        let left = self.reader.size().saturating_sub(offset);
        let len = count.min(READ_BYTES_MAX).min(u32::try_from(left).unwrap_or(u32::MAX));
        let lent = self.lend(offset, len).await.map_err(|error| self.fail(&error))?;
        Ok(ReadPart { offset, len, is_end: u64::from(len) == left, lent })
    }

    async fn lend(&self, offset: u64, len: u32) -> Result<Lent> {
        self.bucket.lend(&self.reader, offset, len).await
    }

    /// The status of a read that failed. A version that is gone is not met again.
    fn fail(&self, error: &Error) -> nfsstat3 {
        if matches!(error.kind, ErrorKind::Changed | ErrorKind::NotFound) {
            self.bucket.forget(self.reader.entry());
            return nfsstat3::NFS3ERR_STALE;
        }
        status_of(error)
    }
}

impl Content for FileBytes {
    fn read(&self, offset: u64, len: u32) -> BoxFuture<'static, Result<Lent>> {
        let (bucket, reader) = (Arc::clone(&self.bucket), self.reader.clone());
        async move { bucket.lend(&reader, offset, len).await }.boxed()
    }

    fn refuse(&self, error: &Error, _offset: u64) -> Vec<u8> {
        protocol::result::<READ3resok<'_>, READ3resfail>(self.xid, Err(self.fail(error)))
    }

    fn has_storage_of(&self, other: &FileBytes) -> bool {
        Arc::ptr_eq(&self.bucket, &other.bucket)
    }
}
