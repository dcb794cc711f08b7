//! Operations that librbd completes on a thread of its own, and that block none of ours.

use std::ffi::{c_char, c_int, c_void};
use std::ops::Range;
use std::ptr;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::oneshot;

use super::ffi;
use super::image::Image;
use super::operation::Operation;
use super::pool::check;
use crate::{Error, ErrorKind, Result};

/// An operation on its way. librbd uses the buffer until it completes the operation, even if the task that
/// asked is gone. So the completion owns the buffer.
struct PendingOperation<B> {
    buffer: B,
    /// An image must not be closed during an operation.
    image: Arc<Image>,
    answer: oneshot::Sender<(isize, B)>,
    operation: Operation,
}

/// The answer of an operation: the value of its completion, and its buffer.
type Answered<B> = oneshot::Receiver<(isize, B)>;

/// Reads the bytes `extent` of `image`.
pub(super) async fn read(image: &Arc<Image>, extent: Range<u64>) -> Result<Bytes> {
    let len = length(&extent);
    let (count, mut bytes) = answer_of(image, begin_read(image, extent.start, len)?).await?;
    if count != len {
        return Err(image.changed());
    }
    // SAFETY: librbd wrote as many bytes as it said, which are `len`, to a buffer with that capacity.
    unsafe { bytes.set_len(len) };
    Ok(bytes.into())
}

/// Writes `bytes` from `offset` on.
pub(super) async fn write(image: &Arc<Image>, offset: u64, bytes: Bytes) -> Result<()> {
    answer_of(image, begin_write(image, offset, bytes)?).await.map(drop)
}

/// Gives up the bytes `extent`.
pub(super) async fn discard(image: &Arc<Image>, extent: Range<u64>) -> Result<()> {
    let (offset, len) = (extent.start, extent.end - extent.start);
    // SAFETY: `submit` calls it with a new completion, while the image is open.
    let begin = |completion| unsafe { ffi::rbd_aio_discard(image.handle(), offset, len, completion) };
    answer_of(image, submit(image, (), begin)?).await.map(drop)
}

/// Writes zeros, which take space if they `have_space`.
pub(super) async fn write_zeroes(image: &Arc<Image>, extent: Range<u64>, have_space: bool) -> Result<()> {
    let (offset, len) = (extent.start, length(&extent));
    let flags = if have_space { ffi::ZEROS_WITH_SPACE } else { 0 };
    // SAFETY: as in `discard`.
    let begin =
        |completion| unsafe { ffi::rbd_aio_write_zeroes(image.handle(), offset, len, completion, flags, 0) };
    answer_of(image, submit(image, (), begin)?).await.map(drop)
}

/// Waits until all writes last that have ended.
pub(super) async fn flush(image: &Arc<Image>) -> Result<()> {
    // SAFETY: as in `discard`.
    let begin = |completion| unsafe { ffi::rbd_aio_flush(image.handle(), completion) };
    answer_of(image, submit(image, (), begin)?).await.map(drop)
}

fn length(extent: &Range<u64>) -> usize {
    usize::try_from(extent.end - extent.start).expect("a piece fits in memory")
}

fn begin_read(image: &Arc<Image>, offset: u64, len: usize) -> Result<Answered<Vec<u8>>> {
    let mut buffer = Vec::<u8>::with_capacity(len);
    let bytes = buffer.as_mut_ptr().cast::<c_char>();
    // SAFETY: the image is open, and the completion owns the buffer, which has room for `len` bytes.
    let begin = |completion| unsafe { ffi::rbd_aio_read(image.handle(), offset, len, bytes, completion) };
    submit(image, buffer, begin)
}

fn begin_write(image: &Arc<Image>, offset: u64, buffer: Bytes) -> Result<Answered<Bytes>> {
    let (bytes, len) = (buffer.as_ptr().cast::<c_char>(), buffer.len());
    // SAFETY: the image is open, and the completion owns the buffer, which has `len` bytes and does not move them.
    let begin = |completion| unsafe { ffi::rbd_aio_write(image.handle(), offset, len, bytes, completion) };
    submit(image, buffer, begin)
}

/// Begins the operation `begin`, which librbd does with `buffer`.
fn submit<B: Send + 'static>(
    image: &Arc<Image>,
    buffer: B,
    begin: impl FnOnce(ffi::Handle) -> c_int,
) -> Result<Answered<B>> {
    let (answer, answered) = oneshot::channel();
    let operation = Operation::begin()?;
    let pending = Box::new(PendingOperation { buffer, image: Arc::clone(image), answer, operation });
    let pending = Box::into_raw(pending);
    let mut completion = ptr::null_mut();
    // SAFETY: `completed` takes back what `pending` points to, and `completion` takes the result.
    let mut code =
        unsafe { ffi::rbd_aio_create_completion(pending.cast::<c_void>(), completed::<B>, &mut completion) };
    if code >= 0 {
        code = begin(completion);
        if code < 0 {
            // SAFETY: the completion was created, and librbd did not take it.
            unsafe { ffi::rbd_aio_release(completion) };
        }
    }
    if code < 0 {
        // SAFETY: librbd did not take the operation, so `completed` is not called, and this is the only owner.
        drop(unsafe { Box::from_raw(pending) });
    }
    check(code, || image.url())?;
    Ok(answered)
}

/// Waits for an operation, and returns its count of bytes and its buffer.
async fn answer_of<B>(image: &Image, answered: Answered<B>) -> Result<(usize, B)> {
    let (code, buffer) = answered.await.map_err(|_| {
        let message = format!("{}: librbd left an operation without an answer", image.url());
        Error::new(ErrorKind::Permanent, message)
    })?;
    check(code as i64, || image.url())?;
    Ok((code.unsigned_abs(), buffer))
}

/// Answers an operation. librbd's thread must not wait here, nor close the image: see
/// [`Pool`](super::pool::Pool).
extern "C" fn completed<B>(completion: ffi::Handle, argument: *mut c_void) {
    // SAFETY: `submit` gave this pointer to one completion, and librbd calls back once.
    let pending = *unsafe { Box::from_raw(argument.cast::<PendingOperation<B>>()) };
    let PendingOperation { buffer, image, answer, operation } = pending;
    // SAFETY: the completion is valid during its callback, and has its value by then.
    let code = unsafe { ffi::rbd_aio_get_return_value(completion) };
    // SAFETY: this is our last use of the completion.
    unsafe { ffi::rbd_aio_release(completion) };
    // Nobody may wait any more. Then the buffer ends here.
    let _ = answer.send((code, buffer));
    drop(image);
    // The last user of an image begins another operation, which closes it.
    drop(operation);
}
