//! The kernel's own readahead.
//!
//! Its window is a setting of the mount. A mount may ask for less than the kernel offers in the
//! greeting. Root may set more, or less, afterwards, for files opened from then on. The kernel also
//! reads a window around each page fault.

use std::fs;
use std::path::PathBuf;

use forerun::{Error, ErrorKind, Result};

/// The kernel's default readahead of a mount: a page. Sequential readers lose nothing by it. A
/// random reader of mapped memory gets one page for each fault, not 32: `docs/mount.md` has the
/// numbers.
pub const KERNEL_READAHEAD_BYTES: u64 = PAGE_BYTES;

/// The kernel's offer, which is its window if a mount asks for no less.
pub const KERNEL_READAHEAD_BYTES_OFFERED: u64 = 128 << 10;

/// The minimum. Without a window the kernel asks for one page at a time, whatever the length of a
/// program's read.
const PAGE_BYTES: u64 = 4096;

/// The readahead to ask the kernel for in the greeting.
pub(crate) fn offer(bytes: u64) -> u32 {
    bytes.clamp(PAGE_BYTES, KERNEL_READAHEAD_BYTES_OFFERED) as u32
}

/// Sets the window of the mount with the device number `device` where the greeting cannot ask for
/// that much.
///
/// # Errors
/// [`ErrorKind::Denied`] if the system does not allow it.
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
