//! How far the kernel reads ahead by itself.
//!
//! Its window is a setting of the mount. It goes two ways: a mount may ask for
//! less than the kernel offers when they meet, and root may set more (or less)
//! afterwards, which counts for files opened from then on. It is also how much the
//! kernel reads around a page fault, wherever that is.

use std::fs;
use std::path::PathBuf;

use forerun::{Error, ErrorKind, Result};

/// How far the kernel reads ahead of one reader unless something else is chosen: a
/// page. What reads forward loses nothing by it, and who touches pages of mapped
/// memory at random gets one page for each, not 32: `docs/mount.md` has the numbers.
pub const KERNEL_READAHEAD_BYTES: u64 = PAGE_BYTES;

/// The most that the kernel offers, and what it does if nobody asks for less.
pub const KERNEL_READAHEAD_BYTES_OFFERED: u64 = 128 << 10;

/// The least: with no window at all the kernel asks for page after page, whatever
/// a program reads.
const PAGE_BYTES: u64 = 4096;

/// What to ask the kernel for so that it reads `bytes` ahead.
pub(crate) fn offer(bytes: u64) -> u32 {
    bytes.clamp(PAGE_BYTES, KERNEL_READAHEAD_BYTES_OFFERED) as u32
}

/// Sets the window of the mount that is `device` (its major and minor number) where
/// it is larger than can be asked for.
///
/// # Errors
/// [`ErrorKind::Denied`] if the system does not let it be set.
pub(crate) fn raise(device: Option<(u32, u32)>, bytes: u64) -> Result<()> {
    if bytes <= KERNEL_READAHEAD_BYTES_OFFERED {
        return Ok(());
    }
    let (major, minor) = device.ok_or_else(|| denied("the mount has no device number"))?;
    let setting = PathBuf::from(format!("/sys/class/bdi/{major}:{minor}/read_ahead_kb"));
    fs::write(&setting, (bytes >> 10).to_string())
        .map_err(|error| denied(&format!("{}: {error}", setting.display())))
}

fn denied(why: &str) -> Error {
    let message = format!(
        "the kernel's readahead cannot be set above 128KiB: {why}; run as root with a writable /sys, or \
         choose 128KiB or less"
    );
    Error::new(ErrorKind::Denied, message)
}
