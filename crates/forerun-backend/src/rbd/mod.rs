//! Images of Ceph's block devices (RBD), through librbd.

mod address;
mod aio;
mod cluster;
mod errno;
mod ffi;
mod image;
mod operation;
mod pool;
mod writable_image;

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use tokio::task::JoinError;

pub(crate) use address::RbdUrl;

use self::cluster::Access;
use self::image::Image;
use self::pool::Pool;
use self::writable_image::WritableImage;
use crate::{Backend, ByteStream, Entry, Error, ErrorKind, Result, Version, Writable, path};

/// The largest piece. Pieces end at multiples of it, so that a piece is in one object of the cluster.
const PIECE_BYTES_MAX: u64 = 1 << 20;
/// Pieces of a fetch on their way at a time: an object of the usual 4 MiB.
const PIECES_MAX: usize = 4;
/// Images that stay open. Each takes memory of librbd, and opening it again takes a few milliseconds.
const OPEN_IMAGES_MAX: usize = 64;
/// Images that a listing opens at a time.
const LISTED_IMAGES_MAX: usize = 16;

/// The images of one pool of a Ceph cluster, or of one namespace of it, as a directory.
///
/// Its files are images, called `IMAGE`, and their snapshots, called `IMAGE@SNAPSHOT`, which listings leave
/// out. A snapshot's version is its number: its bytes never change. An image's version is its identifier,
/// size and modification time, which Ceph renews once a minute while the image is written. So a read of
/// an image during writes may mix older and newer blocks.
#[derive(Clone, Debug)]
pub(crate) struct RbdBackend {
    url: RbdUrl,
    pool: Arc<Pool>,
    /// The images used last are at the end.
    open: Arc<Mutex<Vec<Arc<Image>>>>,
}

impl RbdBackend {
    /// Connects to the pool that `url` names.
    pub(crate) async fn connect(url: &RbdUrl) -> Result<RbdBackend> {
        let pool = connect(url, Access::Read).await?;
        Ok(RbdBackend { url: url.clone(), pool, open: Arc::default() })
    }

    fn open_images(&self) -> MutexGuard<'_, Vec<Arc<Image>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens `path` as it is now.
    async fn open_now(&self, path: &str) -> Result<Arc<Image>> {
        let path = self.image_name(path)?.to_owned();
        let pool = Arc::clone(&self.pool);
        blocking(move || Image::open(&pool, &path)).await.map(Arc::new)
    }

    /// The name of the image `path`: images have no directories.
    fn image_name<'p>(&self, path: &'p str) -> Result<&'p str> {
        match path::components(path)?.as_slice() {
            [name] => Ok(name),
            _ => Err(Error::new(
                ErrorKind::NotFound,
                format!("there is no image {path:?} in {}", self.pool.url),
            )),
        }
    }

    fn keep_open(&self, image: &Arc<Image>) {
        let mut open = self.open_images();
        open.retain(|other| other.path != image.path);
        open.push(Arc::clone(image));
        if open.len() > OPEN_IMAGES_MAX {
            open.remove(0);
        }
    }

    /// `path` with `version`, opened now unless it is open already.
    async fn open_version(&self, path: &str, version: &Version) -> Result<Arc<Image>> {
        let has_version = |image: &Image| image.version == *version;
        let known = self.open_images().iter().find(|image| image.path == path).map(Arc::clone);
        let image = match known.filter(|image| has_version(image)) {
            Some(image) => image,
            None => self.open_now(path).await?,
        };
        self.keep_open(&image);
        if has_version(&image) { Ok(image) } else { Err(image.changed()) }
    }
}

#[async_trait]
impl Backend for RbdBackend {
    fn url(&self) -> String {
        self.pool.url.clone()
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        if path.is_empty() {
            return Ok(Entry::directory(""));
        }
        let image = self.open_now(path).await?;
        self.keep_open(&image);
        image.entry()
    }

    async fn list(&self, path: &str) -> Result<Vec<Entry>> {
        if !path.is_empty() {
            self.stat(path).await?;
            return Err(Error::not_a_directory(path));
        }
        let pool = Arc::clone(&self.pool);
        let names = blocking(move || pool.names()).await?;
        let names = names.into_iter().filter_map(|name| shown(&self.pool.url, name));
        let entries = futures::stream::iter(names).map(|name| async move {
            let entry = self.open_now(&name).await.and_then(|image| image.entry());
            entry.map_or_else(leave_out, |entry| Ok(Some(entry)))
        });
        entries.buffered(LISTED_IMAGES_MAX).try_filter_map(async |entry| Ok(entry)).try_collect().await
    }

    async fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        self.stat(path).await?;
        Err(Error::not_a_link(path))
    }

    async fn fetch(&self, path: &str, version: &Version, extent: Range<u64>) -> Result<ByteStream> {
        let image = self.open_version(path, version).await?;
        if extent.is_empty() || extent.end > image.size {
            let message = format!("{} has no bytes {extent:?}", image.url());
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        let pieces = pieces(extent).map(move |extent| piece(Arc::clone(&image), extent));
        let mut pieces = futures::stream::iter(pieces).buffered(PIECES_MAX);
        // Awaits the first piece here, so that a changed image fails the fetch itself.
        let first = pieces.next().await.transpose()?;
        Ok(futures::stream::iter(first.map(Ok)).chain(pieces).boxed())
    }

    async fn open_writable(&self, path: &str, version: &Version) -> Result<Option<Arc<dyn Writable>>> {
        let name = self.image_name(path)?.to_owned();
        let pool = connect(&self.url, Access::Write).await?;
        let image = Arc::new(blocking(move || Image::open_writable(&pool, &name)).await?);
        if image.version != *version {
            return Err(image.changed());
        }
        Ok(Some(Arc::new(WritableImage(image))))
    }
}

async fn connect(url: &RbdUrl, access: Access) -> Result<Arc<Pool>> {
    let url = url.clone();
    blocking(move || Pool::connect(&url, access)).await.map(Arc::new)
}

/// Reads `extent`. The check runs beside it.
async fn piece(image: Arc<Image>, extent: Range<u64>) -> Result<Bytes> {
    let (bytes, ()) = futures::try_join!(aio::read(&image, extent), image.check_now_and_then())?;
    Ok(bytes)
}

/// Cuts `extent` at multiples of [`PIECE_BYTES_MAX`].
fn pieces(extent: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let end = |start: u64| (start / PIECE_BYTES_MAX + 1) * PIECE_BYTES_MAX;
    let starts = std::iter::successors(Some(extent.start), move |start| Some(end(*start)));
    starts.take_while(move |start| *start < extent.end).map(move |start| start..end(start).min(extent.end))
}

/// The name of a listed image, unless no path can have it.
fn shown(pool: &str, name: Vec<u8>) -> Option<String> {
    let name = String::from_utf8(name).ok().filter(|name| path::is_name(name));
    if name.is_none() {
        tracing::warn!(target: "forerun::store", pool, "skipped an image: its name cannot be that of a file");
    }
    name
}

/// Leaves an image out of a listing because of `error`: the other images are readable without it.
///
/// # Errors
/// The same error if it is about the cluster. A listing without images would look like an empty pool.
fn leave_out(error: Error) -> Result<Option<Entry>> {
    if error.is_transient() || error.kind == ErrorKind::Interrupted {
        return Err(error);
    }
    // An image that was removed since the names were read is no surprise.
    if error.kind != ErrorKind::NotFound {
        tracing::warn!(target: "forerun::store", %error, "left an image out of the listing");
    }
    Ok(None)
}

/// Runs the blocking `work` of librbd away from the async threads.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(stopped(&error)))
}

fn stopped(error: &JoinError) -> Error {
    Error::new(ErrorKind::Permanent, format!("an operation of librbd stopped: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extent_is_cut_at_the_borders_of_objects() {
        const PIECE: u64 = PIECE_BYTES_MAX;
        let ends = |extent| pieces(extent).map(|piece| (piece.start, piece.end)).collect::<Vec<_>>();
        assert_eq!(ends(0..1), [(0, 1)]);
        assert_eq!(ends(5..PIECE), [(5, PIECE)]);
        let three = [(PIECE - 1, PIECE), (PIECE, 2 * PIECE), (2 * PIECE, 2 * PIECE + 1)];
        assert_eq!(ends(PIECE - 1..2 * PIECE + 1), three);
    }
}
