//! Forerun for C, and for languages that call C.
//!
//! `include/forerun.h` is generated from these sources by `make header`. `docs/c.md` is the tutorial and the
//! reference. `examples/read.c` shows most calls, and the tests run it.
//!
//! * An engine and a file are opaque. The caller owns each until it closes it.
//! * A call that fails returns a negative `errno`. [`forerun_last_error`] says the rest.
//! * No panic leaves a call: it is reported as `-EIO`.
//! * After fork(2), handles of the parent answer `-ENOTCONN` in the child (`fork.rs`).
//!
//! All `unsafe` code is in `raw.rs`, in `fork.rs`, and in the exported functions, which call `raw.rs`.
#![expect(
    clippy::missing_safety_doc,
    reason = "the comments are those of the header, and docs/c.md has the rules for all pointers"
)]

mod engine;
mod error;
mod file;
mod fork;
mod options;
mod raw;
mod stats;

use std::ffi::{CStr, c_char};

pub use engine::{Engine, forerun_engine_close, forerun_engine_new};
pub use error::forerun_last_error;
pub use file::{
    FORERUN_ADVICE_DONTNEED, FORERUN_ADVICE_NORMAL, FORERUN_ADVICE_RANDOM, FORERUN_ADVICE_SEQUENTIAL,
    FORERUN_ADVICE_WILLNEED, File, forerun_advise, forerun_close, forerun_open, forerun_pread,
    forerun_preadv, forerun_size,
};
pub use fork::forerun_after_fork;
pub use options::{FORERUN_ANONYMOUS, Options};
pub use stats::{Stats, forerun_stats};

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => panic!("a version has no zero byte"),
};

/// The version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn forerun_version() -> *const c_char {
    VERSION.as_ptr()
}
