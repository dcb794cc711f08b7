//! One engine over one storage.

use std::ffi::{c_char, c_int};

use forerun::Forerun;

use crate::error::{Failure, guard};
use crate::fork::Owned;
use crate::options::{self, Options};
use crate::raw;

/// An engine: one storage, one memory budget, and the threads that fetch.
#[derive(Debug)]
pub struct Engine {
    pub(crate) forerun: Owned<Forerun>,
}

/// Makes an engine over the storage that url names: a path, or a URL with http, https, s3, gs or az. The
/// storage is asked whether it answers. options may be NULL. The handle is stored in *engine, and NULL if
/// the call fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forerun_engine_new(
    url: *const c_char,
    options: *const Options,
    engine: *mut *mut Engine,
) -> c_int {
    // SAFETY: docs/c.md asks callers for valid pointers or NULL.
    guard(|| unsafe { raw::give(engine, "place for the engine", || connect(url, options)) }) as c_int
}

/// # Safety
/// Both are NULL or valid, and the texts end with a zero byte.
unsafe fn connect(url: *const c_char, options: *const Options) -> Result<Engine, Failure> {
    // SAFETY: the caller says so.
    let (url, options) = unsafe { (raw::text(url, "URL")?, options::chosen(options)?) };
    let url = url.ok_or_else(|| Failure::invalid("the URL is NULL; pass a path or a URL"))?;
    Ok(Engine { forerun: Owned::new(Forerun::connect_blocking(url, options)?) })
}

/// Closes the engine. Files that are still open keep it at work until they are closed. NULL is allowed.
/// No other thread may be in a call with this engine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forerun_engine_close(engine: *mut Engine) {
    guard(|| {
        // SAFETY: docs/c.md asks callers to close a handle once, when no call uses it.
        unsafe { raw::take_back(engine) };
        Ok(0)
    });
}
