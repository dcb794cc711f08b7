//! Where to mount: an empty directory, or `/dev/fd/N`, which is a FUSE descriptor that
//! another program has opened and mounted.

use std::error::Error;
use std::fs;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use forerun::Forerun;
use forerun_serve::fuse::{Mount, MountOptions, check_mount_point};
use rustix::fs::makedev;
use rustix::io::{FdFlags, fcntl_setfd};

/// The kernel's number of /dev/fuse.
const FUSE: (u32, u32) = (10, 229);

/// See the module's page.
pub(super) enum Place {
    Directory(PathBuf),
    Device { device: OwnedFd, name: PathBuf },
}

impl Place {
    /// The place that `path` names. From here on no other program gets its descriptor.
    ///
    /// # Errors
    /// If it cannot be mounted on, or is no open descriptor of FUSE.
    pub(super) fn new(path: &Path) -> Result<Place, Box<dyn Error>> {
        match number(path) {
            None => Ok(Place::Directory(check_mount_point(path)?)),
            Some(number) => Ok(Place::Device { device: take(number)?, name: path.to_owned() }),
        }
    }

    pub(super) fn mount(self, forerun: Forerun, options: MountOptions) -> forerun::Result<Mount> {
        match self {
            Place::Directory(directory) => Mount::new(forerun, &directory, options),
            Place::Device { device, name } => Mount::on_device(forerun, device, &name, options),
        }
    }
}

/// The number in `/dev/fd/N`.
fn number(path: &Path) -> Option<RawFd> {
    let number = path.to_str()?.strip_prefix("/dev/fd/")?;
    number.parse().ok().filter(|number| *number >= 0)
}

fn take(number: RawFd) -> Result<OwnedFd, Box<dyn Error>> {
    let found = fs::metadata(format!("/proc/self/fd/{number}")).map_err(|error| {
        format!(
            "descriptor {number} is not open ({error}): start this with a descriptor of /dev/fuse as {number}, \
             on which a file system is mounted"
        )
    })?;
    if !found.file_type().is_char_device() || found.rdev() != makedev(FUSE.0, FUSE.1) {
        return Err(format!(
            "descriptor {number} is not of /dev/fuse: open that, mount with `fd={number}`, and hand it over"
        )
        .into());
    }
    inherit(number)
}

/// The descriptor `number`, which was open when this program was started, and which no other part of it
/// knows. No other program gets it from here on.
///
/// # Errors
/// If it is not open.
pub(crate) fn inherit(number: RawFd) -> Result<OwnedFd, Box<dyn Error>> {
    fs::symlink_metadata(format!("/proc/self/fd/{number}"))
        .map_err(|error| format!("descriptor {number} is not open: {error}"))?;
    // SAFETY: it is open, as was just seen. This program opens no descriptor for itself before it takes
    // those that it was started with: nothing else here uses or closes it.
    let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
    fcntl_setfd(&descriptor, FdFlags::CLOEXEC)
        .map_err(|errno| format!("descriptor {number} cannot be kept from other programs: {errno}"))?;
    Ok(descriptor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_dev_fd_and_a_number_names_a_descriptor() {
        assert_eq!(number(Path::new("/dev/fd/3")), Some(3));
        for path in
            ["/dev/fd/", "/dev/fd/-1", "/dev/fd/3/x", "/dev/fd/x", "dev/fd/3", "/mnt", "/dev/fd/99999999999"]
        {
            assert_eq!(number(Path::new(path)), None, "{path}");
        }
    }

    #[test]
    fn what_is_no_open_descriptor_of_fuse_is_left_alone_with_advice() {
        let message = |number| take(number).unwrap_err().to_string();
        assert!(
            message(RawFd::MAX).contains("is not open") && message(RawFd::MAX).contains("start this with")
        );
        assert!(message(1).contains("is not of /dev/fuse"));
    }
}
