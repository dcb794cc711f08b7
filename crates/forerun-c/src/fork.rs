//! Handles after fork(2).
//!
//! The child has the memory of the parent, and none of its threads. A handle of the parent would wait for
//! them for ever. So each handle keeps the *generation* of the process that made it, and a fork begins the
//! next one in the child. A counter, because process numbers repeat: the first process of a container
//! is always 1.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::Failure;

static GENERATION: AtomicU64 = AtomicU64::new(0);
static IS_WATCHED: AtomicBool = AtomicBool::new(false);

/// A value that threads of this process serve.
#[derive(Debug)]
pub(crate) struct Owned<T> {
    /// Taken only when it is dropped.
    value: Option<T>,
    generation: u64,
}

impl<T> Owned<T> {
    pub(crate) fn new(value: T) -> Owned<T> {
        watch();
        Owned { value: Some(value), generation: GENERATION.load(Ordering::Relaxed) }
    }

    /// The value.
    ///
    /// # Errors
    /// `ENOTCONN` in a child of the process that made it.
    pub(crate) fn get(&self) -> Result<&T, Failure> {
        self.value.as_ref().filter(|_| self.is_ours()).ok_or_else(|| {
            let message = "the process was forked after this handle was made, and the handle's threads \
                           stayed with the parent; make another engine in the child";
            Failure::new(libc::ENOTCONN, message)
        })
    }

    fn is_ours(&self) -> bool {
        self.generation == GENERATION.load(Ordering::Relaxed)
    }
}

impl<T> Drop for Owned<T> {
    /// Threads of the parent may have held locks of the value, which nobody releases in the child.
    fn drop(&mut self) {
        if !self.is_ours() {
            std::mem::forget(self.value.take());
        }
    }
}

/// Has every fork from now on begin a generation in the child.
fn watch() {
    if IS_WATCHED.load(Ordering::Acquire) {
        return;
    }
    // SAFETY: the handler only adds to an atomic, which is allowed after fork(2). The library is never
    // unloaded (`build.rs`). It does no harm if two threads register it. If memory is short it is not
    // registered, and `forerun_after_fork` is still there.
    unsafe { libc::pthread_atfork(None, None, Some(begin_generation)) };
    IS_WATCHED.store(true, Ordering::Release);
}

unsafe extern "C" fn begin_generation() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// Says, in a new child process, that handles of the parent have no threads here: every call on them then
/// fails with -ENOTCONN. fork() does this by itself. Call it after another way to fork, such as
/// syscall(SYS_clone, ...), before any other call.
#[unsafe(no_mangle)]
pub extern "C" fn forerun_after_fork() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}
