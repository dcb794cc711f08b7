//! Reads that librbd completes on a thread of its own, and that block none of ours.

use std::ffi::{c_char, c_void};
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

/// A read on its way. librbd writes to the buffer until it completes the read, even if the task that
/// asked is gone. So the completion owns the buffer.
struct PendingRead {
    buffer: Vec<u8>,
    /// An image must not be closed during a read.
    image: Arc<Image>,
    answer: oneshot::Sender<(isize, Vec<u8>)>,
    operation: Operation,
}

/// Reads the bytes `extent` of `image`.
pub(super) async fn read(image: &Arc<Image>, extent: Range<u64>) -> Result<Bytes> {
    let len = usize::try_from(extent.end - extent.start).expect("a piece fits in memory");
    let (code, mut bytes) = submit(image, extent.start, len)?.await.map_err(|_| {
        let message = format!("{}: librbd left a read without an answer", image.url());
        Error::new(ErrorKind::Permanent, message)
    })?;
    check(code as i64, || image.url())?;
    if code.unsigned_abs() != len {
        return Err(image.changed());
    }
    // SAFETY: librbd wrote as many bytes as it said, which are `len`, to a buffer with that capacity.
    unsafe { bytes.set_len(len) };
    Ok(bytes.into())
}

/// Asks librbd for `len` bytes at `offset`.
fn submit(image: &Arc<Image>, offset: u64, len: usize) -> Result<oneshot::Receiver<(isize, Vec<u8>)>> {
    let (answer, answered) = oneshot::channel();
    let buffer = Vec::with_capacity(len);
    let operation = Operation::begin()?;
    let mut pending = Box::new(PendingRead { buffer, image: Arc::clone(image), answer, operation });
    let buffer = pending.buffer.as_mut_ptr().cast::<c_char>();
    let pending = Box::into_raw(pending);
    let mut completion = ptr::null_mut();
    // SAFETY: `completed` takes back what `pending` points to, and `completion` takes the result.
    let mut code =
        unsafe { ffi::rbd_aio_create_completion(pending.cast::<c_void>(), completed, &mut completion) };
    if code >= 0 {
        // SAFETY: `pending` owns the image and the buffer, which has room for `len` bytes. `completed` drops it
        // when the read is complete.
        code = unsafe { ffi::rbd_aio_read(image.handle(), offset, len, buffer, completion) };
        if code < 0 {
            // SAFETY: the completion was created, and librbd did not take it.
            unsafe { ffi::rbd_aio_release(completion) };
        }
    }
    if code < 0 {
        // SAFETY: librbd did not take the read, so `completed` is not called, and this is the only owner.
        drop(unsafe { Box::from_raw(pending) });
    }
    check(code, || image.url())?;
    Ok(answered)
}

/// Answers a read. librbd's thread must not wait here, nor close the image: see [`Pool`](super::pool::Pool).
extern "C" fn completed(completion: ffi::Handle, argument: *mut c_void) {
    // SAFETY: `submit` gave this pointer to one completion, and librbd calls back once.
    let pending = *unsafe { Box::from_raw(argument.cast::<PendingRead>()) };
    let PendingRead { buffer, image, answer, operation } = pending;
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
