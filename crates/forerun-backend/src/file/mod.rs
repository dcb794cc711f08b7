//! A local directory.

mod direct;
mod read;
mod ring;

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use async_trait::async_trait;
use bytes::Bytes;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use self::direct::Direct;
use self::read::VersionedFile;
use self::ring::{ClosedFile, SharedRing};
use crate::{Backend, ByteStream, Entry, Error, ErrorKind, Kind, Result, Version, path};

/// The tree below a local directory.
///
/// The directory is opened once, so a file system mounted over it later does not hide it. No
/// symbolic link below it is followed. Sockets, pipes, devices and names that are not UTF-8 are not
/// shown.
///
/// A file's version is its modification time, size and inode number. So a second write is missed if
/// it keeps the size and follows within one tick of the file system's clock (some milliseconds).
#[derive(Clone, Debug)]
pub struct FileBackend {
    root: Arc<File>,
    name: PathBuf,
    /// None if reads go through the page cache.
    direct: Option<Arc<Direct>>,
    ring: SharedRing,
}

impl FileBackend {
    /// The tree below the directory `root`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`], [`ErrorKind::NotADirectory`] or [`ErrorKind::Denied`] if it cannot
    /// be opened.
    pub fn new(root: impl AsRef<Path>) -> Result<FileBackend> {
        let name = std::path::absolute(root.as_ref()).map_err(|error| io_error(root.as_ref(), error))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(&name, flags, Mode::empty()).map_err(|errno| io_error(&name, errno))?;
        let stat = rustix::fs::fstat(&root).map_err(|errno| io_error(&name, errno))?;
        let has_block_device = rustix::fs::major(stat.st_dev) != 0;
        let ring = if has_block_device { SharedRing::default() } else { SharedRing::none() };
        Ok(FileBackend { root: Arc::new(root.into()), name, direct: None, ring })
    }

    /// Reads past the page cache, if `is_direct` (`O_DIRECT`). Then no byte is in memory twice, and the kernel reads
    /// nothing ahead. A file system that cannot do this is read through the page cache, and a warning says so once.
    #[must_use]
    pub fn with_direct(self, is_direct: bool) -> FileBackend {
        let direct = is_direct.then(|| Arc::new(Direct::new(self.name.clone())));
        FileBackend { direct, ..self }
    }

    /// Runs the blocking `work` on `path` away from the async threads.
    async fn blocking<T: Send + 'static>(
        &self,
        path: &str,
        work: impl FnOnce(&FileBackend, &str) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (backend, path) = (self.clone(), path.to_owned());
        match tokio::task::spawn_blocking(move || work(&backend, &path)).await {
            Ok(result) => result,
            Err(stopped) => {
                Err(Error::new(ErrorKind::Permanent, format!("a file operation stopped: {stopped}")))
            }
        }
    }

    fn local(&self, path: &str) -> PathBuf {
        self.name.join(path)
    }

    /// Opens the directory of `path`, one component at a time so that no link is followed. Returns
    /// it with the last component.
    fn parent<'p>(&self, path: &'p str) -> Result<(OwnedFd, &'p str)> {
        let names = path::components(path)?;
        let (last, directories) = names.split_last().map_or((".", &[][..]), |(last, rest)| (*last, rest));
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut parent = OwnedFd::from(self.root.try_clone().map_err(|error| io_error(&self.name, error))?);
        for name in directories {
            parent = rustix::fs::openat(&parent, *name, flags, Mode::empty())
                .map_err(|errno| self.no_parent(path, errno))?;
        }
        Ok((parent, last))
    }

    /// A file or link in place of a directory means that nothing is below it.
    fn no_parent(&self, path: &str, errno: Errno) -> Error {
        let errno = if matches!(errno, Errno::NOTDIR | Errno::LOOP) { Errno::NOENT } else { errno };
        io_error(&self.local(path), errno)
    }

    fn stat_now(&self, path: &str) -> Result<Entry> {
        let (parent, name) = self.parent(path)?;
        let stat = rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| io_error(&self.local(path), errno))?;
        entry_of(path, &stat).ok_or_else(|| {
            let message = format!("{} is not a file, directory or link", self.local(path).display());
            Error::new(ErrorKind::NotFound, message)
        })
    }

    fn list_now(&self, directory: &str) -> Result<Vec<Entry>> {
        let local = self.local(directory);
        let (parent, name) = self.parent(directory)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&parent, name, flags, Mode::empty())
            .map_err(|errno| io_error(&local, errno))?;
        let names = rustix::fs::Dir::read_from(&opened).map_err(|errno| io_error(&local, errno))?;
        let mut entries = Vec::new();
        for name in names {
            let name = name.map_err(|errno| io_error(&local, errno))?;
            let Ok(name) = name.file_name().to_str() else {
                tracing::warn!(
                    target: "forerun::store",
                    directory = %local.display(), name = ?name.file_name(), "skipped: the name is not UTF-8"
                );
                continue;
            };
            if !path::is_name(name) {
                continue;
            }
            match rustix::fs::statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => entries.extend(entry_of(&path::join(directory, name), &stat)),
                // Removed since the directory was read.
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(io_error(&local.join(name), errno)),
            }
        }
        Ok(entries)
    }

    fn read_link_now(&self, path: &str) -> Result<Vec<u8>> {
        let (parent, name) = self.parent(path)?;
        match rustix::fs::readlinkat(&parent, name, Vec::new()) {
            Ok(target) => Ok(target.into_bytes()),
            Err(Errno::INVAL) => {
                let message = format!("{} is not a symbolic link", self.local(path).display());
                Err(Error::new(ErrorKind::Invalid, message))
            }
            Err(errno) => Err(io_error(&self.local(path), errno)),
        }
    }

    /// Opens the file and reads the first piece of `extent` past the page cache, through the ring. None if reads are
    /// not to go there, or if anything is wrong.
    async fn begin_in_ring(
        &self,
        path: &str,
        version: &Version,
        extent: &Range<u64>,
    ) -> Option<(Arc<VersionedFile>, Bytes)> {
        let direct = self.direct.clone().filter(|direct| !direct.is_refused())?;
        let ring = self.ring.get(&self.name)?;
        let names = path::components(path).ok()?;
        let file = ClosedFile {
            root: self.root.clone(),
            path: CString::new(names.join("/")).ok()?,
            name: self.local(path),
            direct,
            version: version.clone(),
        };
        ring.begin(file, extent).await
    }

    fn open_now(&self, path: &str) -> Result<File> {
        let (parent, name) = self.parent(path)?;
        // A pipe put in the file's place must not block the open.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::openat(&parent, name, flags, Mode::empty()) {
            Ok(file) => Ok(file.into()),
            Err(Errno::LOOP) => Err(changed(&self.local(path))),
            Err(errno) => Err(io_error(&self.local(path), errno)),
        }
    }
}

#[async_trait]
impl Backend for FileBackend {
    fn url(&self) -> String {
        url::Url::from_file_path(&self.name).map_or_else(|()| self.name.display().to_string(), String::from)
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        self.blocking(path, FileBackend::stat_now).await
    }

    async fn list(&self, path: &str) -> Result<Vec<Entry>> {
        self.blocking(path, FileBackend::list_now).await
    }

    async fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        self.blocking(path, FileBackend::read_link_now).await
    }

    async fn fetch(&self, path: &str, version: &Version, extent: Range<u64>) -> Result<ByteStream> {
        if let Some((source, first)) = self.begin_in_ring(path, version, &extent).await {
            return Ok(read::stream(self.ring.clone(), source, first, extent));
        }
        let (version, Range { start, end }) = (version.clone(), extent.clone());
        // Each turn of the threads costs more than a small read. So one opens the file, and reads the first
        // piece too: a changed file then fails the fetch itself.
        let begin = move |backend: &FileBackend, path: &str| {
            let file = backend.open_now(path)?;
            let source = VersionedFile::new(file, backend.local(path), backend.direct.clone(), version);
            let first = source.read(start, end)?;
            Ok((Arc::new(source), first))
        };
        let (source, first) = self.blocking(path, begin).await?;
        Ok(read::stream(self.ring.clone(), source, first, extent))
    }

    async fn open_local(&self, path: &str, version: &Version) -> Result<Option<File>> {
        let version = version.clone();
        let open = move |backend: &FileBackend, path: &str| {
            let file = backend.open_now(path)?;
            read::check(&file, &backend.local(path), &version)?;
            Ok(Some(file))
        };
        self.blocking(path, open).await
    }
}

fn entry_of(path: &str, stat: &Stat) -> Option<Entry> {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Symlink,
        _ => return None,
    };
    let modified = u64::try_from(stat.st_mtime).ok();
    Some(Entry {
        path: path.to_owned(),
        kind,
        size: if kind == Kind::Directory { 0 } else { u64::try_from(stat.st_size).unwrap_or(0) },
        modified: modified.map(|secs| UNIX_EPOCH + Duration::new(secs, nanoseconds(stat))),
        version: version_of(stat),
        mode: Some(stat.st_mode & 0o7777),
        owner: Some((stat.st_uid, stat.st_gid)),
    })
}

fn version_of(stat: &Stat) -> Version {
    let mtime_ns = i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(nanoseconds(stat));
    Version(format!("{mtime_ns}-{}-{}", stat.st_size, stat.st_ino).into())
}

fn nanoseconds(stat: &Stat) -> u32 {
    u32::try_from(stat.st_mtime_nsec).unwrap_or(0)
}

fn changed(file: &Path) -> Error {
    Error::new(ErrorKind::Changed, format!("{} changed while it was open; open it again", file.display()))
}

pub(crate) fn io_error(file: &Path, error: impl Into<io::Error>) -> Error {
    let error = error.into();
    let (kind, advice) = match error.kind() {
        io::ErrorKind::NotFound => (ErrorKind::NotFound, ""),
        io::ErrorKind::NotADirectory => (ErrorKind::NotADirectory, ""),
        io::ErrorKind::PermissionDenied => (ErrorKind::Denied, "; run as a user who may read it"),
        io::ErrorKind::StaleNetworkFileHandle => (ErrorKind::Changed, "; open it again"),
        _ => (ErrorKind::Permanent, ""),
    };
    Error::new(kind, format!("{}: {error}{advice}", file.display())).with_source(error)
}

#[cfg(test)]
mod tests;
