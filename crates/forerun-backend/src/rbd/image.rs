//! An open image, or a snapshot of one.

use std::ffi::{CStr, c_char};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use tokio::time::Instant;

use super::errno::not_writable;
use super::ffi::{self, CephTime};
use super::operation::Operation;
use super::pool::{Pool, c_string, check};
use super::stopped;
use crate::{Entry, Error, ErrorKind, Result, Version};

/// The longest identifier of an image, with its zero byte.
const ID_BYTES_MAX: usize = 256;
/// The time after which a read begins to find out again whether the image has changed. An image that is open for
/// reading is not told of changes, not even that it was removed.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// The age of a finding that a read does not trust any more: it waits for the next one. A check opens the image, which
/// takes a dozen operations one after another. So reads without a pause never wait for it.
const FINDING_AGE_MAX: Duration = Duration::from_secs(2);

/// An image as it was when it was opened.
#[derive(Debug)]
pub(super) struct Image {
    handle: ffi::Handle,
    pool: Arc<Pool>,
    /// `IMAGE` or `IMAGE@SNAPSHOT`.
    pub(super) path: String,
    pub(super) size: u64,
    pub(super) version: Version,
    modified: Option<SystemTime>,
    check: Mutex<Check>,
}

/// The last finding about changes, and the check on its way.
#[derive(Debug)]
struct Check {
    at: Instant,
    is_changed: bool,
    next: Option<Shared<BoxFuture<'static, Result<()>>>>,
}

// SAFETY: librbd allows the use of an image from any thread, and the handle is only read.
unsafe impl Send for Image {}
// SAFETY: as above.
unsafe impl Sync for Image {}

impl Drop for Image {
    fn drop(&mut self) {
        self.pool.close(self.handle);
    }
}

impl Image {
    /// Opens `path`, which is `IMAGE` or `IMAGE@SNAPSHOT`. Blocks.
    pub(super) fn open(pool: &Arc<Pool>, path: &str) -> Result<Image> {
        let (name, snapshot) = match path.split_once('@') {
            Some((name, snapshot)) => (c_string(name)?, Some(c_string(snapshot)?)),
            None => (c_string(path)?, None),
        };
        let mut handle = ptr::null_mut();
        let pointer = snapshot.as_ref().map_or(ptr::null(), |snapshot| snapshot.as_ptr());
        let (at, _operation) = (Instant::now(), Operation::begin()?);
        // SAFETY: the pool is open, the names end in zero or are null, and `handle` takes the result.
        let code = unsafe { ffi::rbd_open_read_only(pool.io(), name.as_ptr(), &mut handle, pointer) };
        check(code, || format!("{}{path}", pool.url))?;
        Image::of(pool, path, handle, snapshot.as_deref(), at)
    }

    /// Opens `path` for writes, and locks it until it is closed. Blocks.
    pub(super) fn open_writable(pool: &Arc<Pool>, path: &str) -> Result<Image> {
        let url = || format!("{}{path}", pool.url);
        if path.contains('@') {
            let message = format!("{} is a snapshot, which cannot be written; name its image", url());
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        let check = |code: i32| if code < 0 { Err(not_writable(&url(), code.into())) } else { Ok(()) };
        let name = c_string(path)?;
        let mut handle = ptr::null_mut();
        let (at, _operation) = (Instant::now(), Operation::begin()?);
        // SAFETY: the pool is open, the names end in zero or are null, and `handle` takes the result.
        let code = unsafe { ffi::rbd_open(pool.io(), name.as_ptr(), &mut handle, ptr::null()) };
        check(code)?;
        let image = Image::of(pool, path, handle, None, at)?;
        // SAFETY: the image is open.
        let code = unsafe { ffi::rbd_lock_acquire(handle, ffi::LOCK_MODE_EXCLUSIVE) };
        check(code)?;
        Ok(image)
    }

    /// The image `path` of `pool`, which is open as `handle` since `at`.
    fn of(
        pool: &Arc<Pool>,
        path: &str,
        handle: ffi::Handle,
        snapshot: Option<&CStr>,
        at: Instant,
    ) -> Result<Image> {
        let mut image = Image {
            handle,
            pool: Arc::clone(pool),
            path: path.to_owned(),
            size: 0,
            version: Version("".into()),
            modified: None,
            check: Mutex::new(Check { at, is_changed: false, next: None }),
        };
        image.describe(snapshot)?;
        Ok(image)
    }

    /// The image's handle, valid as long as the image is borrowed.
    pub(super) fn handle(&self) -> ffi::Handle {
        self.handle
    }

    pub(super) fn url(&self) -> String {
        format!("{}{}", self.pool.url, self.path)
    }

    pub(super) fn entry(&self) -> Result<Entry> {
        let entry = Entry::described(&self.path, self.size, self.version.clone())?;
        Ok(entry.with_modified(self.modified))
    }

    /// Asks for size, version and time.
    fn describe(&mut self, snapshot: Option<&CStr>) -> Result<()> {
        let check = |code| check(code, || self.url());
        let mut size = 0;
        // SAFETY: the image is open, and `size` takes the result.
        check(unsafe { ffi::rbd_get_size(self.handle, &mut size) })?;
        let mut id = [0_u8; ID_BYTES_MAX];
        // SAFETY: the image is open, and `id` has as many bytes as said.
        check(unsafe { ffi::rbd_get_id(self.handle, id.as_mut_ptr().cast::<c_char>(), id.len()) })?;
        let id = CStr::from_bytes_until_nul(&id).map_or("".into(), CStr::to_string_lossy);
        let mut time = CephTime::default();
        let version = if let Some(snapshot) = snapshot {
            let mut number = 0;
            // SAFETY: the image is open, the name ends in zero, and `number` takes the result.
            check(unsafe { ffi::rbd_snap_get_id(self.handle, snapshot.as_ptr(), &mut number) })?;
            // SAFETY: the image is open, and `time` takes the result.
            check(unsafe { ffi::rbd_snap_get_timestamp(self.handle, number, &mut time) })?;
            format!("{id}@{number} {size}")
        } else {
            // SAFETY: the image is open, and `time` takes the result.
            check(unsafe { ffi::rbd_get_modify_timestamp(self.handle, &mut time) })?;
            format!("{id} {size} {}.{:09}", time.seconds, time.nanoseconds)
        };
        (self.size, self.version, self.modified) = (size, Version(version.into()), system_time(&time));
        Ok(())
    }

    /// Finds out whether the image has changed, unless that was found out lately.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`], or [`ErrorKind::NotFound`] if it is gone.
    pub(super) async fn check_now_and_then(self: &Arc<Image>) -> Result<()> {
        let next = {
            let mut check = self.lock_check();
            if check.is_changed {
                return Err(self.changed());
            }
            let age = check.at.elapsed();
            if age < CHECK_INTERVAL {
                return Ok(());
            }
            let next = check.next.get_or_insert_with(|| self.begin_check()).clone();
            if age < FINDING_AGE_MAX {
                return Ok(());
            }
            next
        };
        next.await
    }

    /// Begins a check, which goes on even if nobody waits for it.
    fn begin_check(self: &Arc<Image>) -> Shared<BoxFuture<'static, Result<()>>> {
        let (image, at) = (Arc::clone(self), Instant::now());
        let opened = tokio::task::spawn_blocking(move || {
            let now = Image::open(&image.pool, &image.path);
            let mut check = image.lock_check();
            check.next = None;
            match &now {
                Ok(now) => (check.at, check.is_changed) = (at, now.version != image.version),
                Err(error) => check.is_changed |= error.kind == ErrorKind::NotFound,
            }
            if check.is_changed { now.and(Err(image.changed())) } else { now.map(drop) }
        });
        opened.map(|ended| ended.unwrap_or_else(|error| Err(stopped(&error)))).boxed().shared()
    }

    fn lock_check(&self) -> MutexGuard<'_, Check> {
        self.check.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn changed(&self) -> Error {
        let message = format!("{} changed while it was open; open it again, or read a snapshot", self.url());
        Error::new(ErrorKind::Changed, message)
    }
}

/// None for the time 0, which an image has that never had another one.
fn system_time(time: &CephTime) -> Option<SystemTime> {
    let seconds = u64::try_from(time.seconds).ok().filter(|seconds| *seconds > 0)?;
    let nanoseconds = u32::try_from(time.nanoseconds).ok()?;
    UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
}
