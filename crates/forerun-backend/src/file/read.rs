//! Streaming an extent of an open file, piece by piece.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt;
use rustix::io::Errno;

use super::direct::{self, Direct, DirectBuffer};
use super::ring::SharedRing;
use super::{changed, io_error, version_of};
use crate::{ByteStream, Error, ErrorKind, Result, Version};

/// The largest piece. It is large enough to keep a disk busy. It is so small that a reader of the first
/// bytes does not wait for the whole extent.
const PIECE_BYTES_MAX: u64 = 1 << 20;

/// The length of the next piece from `offset` on.
pub(super) fn piece_len(offset: u64, end: u64) -> usize {
    usize::try_from((end - offset).min(PIECE_BYTES_MAX)).expect("a piece fits in memory")
}

/// A file that is read as long as it is one version.
#[derive(Debug)]
pub(super) struct VersionedFile {
    file: Arc<File>,
    name: PathBuf,
    /// None if reads go through the page cache.
    direct: Option<Arc<Direct>>,
    version: Version,
}

/// Streams the bytes `extent` of `source`, by `ring` if there is one. The caller has read `first` of them.
pub(super) fn stream(
    ring: SharedRing,
    source: Arc<VersionedFile>,
    first: Bytes,
    extent: Range<u64>,
) -> ByteStream {
    let begin = (ring, source, extent.start + first.len() as u64);
    let rest = futures::stream::try_unfold(begin, move |(ring, source, offset)| async move {
        if offset >= extent.end {
            return Ok(None);
        }
        let piece = source.clone().piece(&ring, offset, extent.end).await?;
        let next = offset + piece.len() as u64;
        Ok(Some((piece, (ring, source, next))))
    });
    futures::stream::once(async { Ok(first) }).chain(rest).boxed()
}

impl VersionedFile {
    pub(super) fn new(
        file: File,
        name: PathBuf,
        direct: Option<Arc<Direct>>,
        version: Version,
    ) -> VersionedFile {
        let direct = direct.filter(|direct| direct.begin(&file));
        if direct.is_none() {
            // The caller has planned its readahead: the kernel's own would double it. Without this advice
            // reads are only slower.
            let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random);
        }
        VersionedFile { file: Arc::new(file), name, direct, version }
    }

    pub(super) fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// Whether the file system has refused a read past the page cache since the file was opened.
    pub(super) fn is_refused(&self) -> bool {
        self.direct.as_ref().is_some_and(|direct| direct.is_refused())
    }

    async fn piece(self: Arc<Self>, ring: &SharedRing, offset: u64, end: u64) -> Result<Bytes> {
        if self.direct.is_some()
            && let Some(ring) = ring.get(&self.name)
            && let Some(bytes) = ring.read(self.clone(), offset, end).await
        {
            return Ok(bytes);
        }
        match tokio::task::spawn_blocking(move || self.read(offset, end)).await {
            Ok(result) => result,
            Err(stopped) => Err(Error::new(ErrorKind::Permanent, format!("a file read stopped: {stopped}"))),
        }
    }

    /// The bytes from `offset` to `end`, or fewer if those are many, or if an error follows.
    ///
    /// Checks the version before and after: a write in between changes the time or the size, so
    /// bytes of two versions are never mixed.
    pub(super) fn read(&self, offset: u64, end: u64) -> Result<Bytes> {
        self.check()?;
        let len = piece_len(offset, end);
        let bytes = match self.read_direct(offset, len)? {
            Some(bytes) => bytes,
            None => self.read_cached(offset, len)?,
        };
        self.check()?;
        Ok(bytes)
    }

    /// The same past the page cache, unless that is not wanted or refused.
    fn read_direct(&self, offset: u64, len: usize) -> Result<Option<Bytes>> {
        let Some(direct) = &self.direct else { return Ok(None) };
        let cached = || direct::end(&self.file).map(|()| None).map_err(|errno| io_error(&self.name, errno));
        if direct.is_refused() {
            return cached();
        }
        let mut buffer = DirectBuffer::new(offset, len);
        let at = buffer.offset();
        let read = rustix::io::retry_on_intr(|| rustix::io::pread(&self.file, buffer.room(), at));
        match read.map(|count| buffer.into_bytes(count)) {
            Ok(bytes) if bytes.is_empty() => Err(changed(&self.name)),
            Ok(bytes) => Ok(Some(bytes)),
            Err(Errno::INVAL) => {
                direct.refuse();
                cached()
            }
            // The page cache keeps the bytes before a bad block.
            Err(Errno::IO) => cached(),
            Err(errno) => Err(io_error(&self.name, errno)),
        }
    }

    fn read_cached(&self, offset: u64, len: usize) -> Result<Bytes> {
        let mut buffer = Vec::with_capacity(len);
        while buffer.len() < len {
            let at = offset + buffer.len() as u64;
            let read = rustix::io::retry_on_intr(|| {
                rustix::io::pread(&self.file, rustix::buffer::spare_capacity(&mut buffer), at)
            });
            match read {
                Ok(0) => return Err(changed(&self.name)),
                Ok(_) => {}
                Err(errno) if buffer.is_empty() => return Err(io_error(&self.name, errno)),
                // The bytes before a bad block are good; the next piece meets the error.
                Err(_) => break,
            }
        }
        // The allocator may have granted more capacity than the piece has bytes.
        buffer.truncate(len);
        Ok(buffer.into())
    }

    /// Checks that it is the right version now.
    pub(super) fn check(&self) -> Result<()> {
        check(&self.file, &self.name, &self.version)
    }
}

/// Checks that `file`, called `name`, is `version` now.
///
/// # Errors
/// [`ErrorKind::Changed`] if not.
pub(super) fn check(file: &File, name: &Path, version: &Version) -> Result<()> {
    let stat = rustix::fs::fstat(file).map_err(|errno| io_error(name, errno))?;
    if version_of(&stat) == *version { Ok(()) } else { Err(changed(name)) }
}
