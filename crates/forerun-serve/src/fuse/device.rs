//! A connection to the kernel that another program has opened and mounted.

use std::os::fd::OwnedFd;
use std::path::Path;

use forerun::{Error, ErrorKind, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::options::MountOptions;
use super::window::KERNEL_READAHEAD_BYTES_OFFERED;

/// Prepares `device`, which messages call `name`, to be served with `options`.
///
/// # Errors
/// * [`ErrorKind::Invalid`] for an option that only the mounting program can choose.
/// * [`ErrorKind::Permanent`] if `device` belongs to no mount that waits to be served.
pub(crate) fn prepare(device: &OwnedFd, name: &Path, options: &MountOptions) -> Result<()> {
    let name = name.display();
    let invalid = |message: String| Err(Error::new(ErrorKind::Invalid, message));
    if options.allow_other {
        return invalid(format!(
            "{name} is mounted already, so its mount decides who may use it: \
             leave out allow-other here, and mount with the option `allow_other`"
        ));
    }
    if options.noexec {
        return invalid(format!(
            "{name} is mounted already, so its mount decides what may be started: \
             leave out noexec here, and mount with the option `noexec`"
        ));
    }
    if options.kernel_readahead_bytes > KERNEL_READAHEAD_BYTES_OFFERED {
        return invalid(format!(
            "the kernel's readahead of {name} cannot be set above 128KiB here. Choose less, and write to \
             /sys/class/bdi/MAJOR:MINOR/read_ahead_kb where it is mounted"
        ));
    }
    let permanent = |message: String| Error::new(ErrorKind::Permanent, message);
    // Blocking mode: in the other, an empty queue would make the threads spin.
    rustix::io::ioctl_fionbio(device, false)
        .map_err(|errno| permanent(format!("{name} cannot be made to wait for requests: {errno}")))?;
    let mut polled = [PollFd::new(device, PollFlags::IN)];
    // The kernel sends its first request as soon as it is mounted.
    rustix::io::retry_on_intr(|| poll(&mut polled, Some(&Timespec::default())))
        .map_err(|errno| permanent(format!("{name} cannot be waited for: {errno}")))?;
    let found = polled[0].revents();
    if found.contains(PollFlags::ERR) {
        return Err(permanent(format!(
            "{name} is not mounted (any more): mount it with the option `fd=N` before this is started"
        )));
    }
    if !found.contains(PollFlags::IN) {
        return Err(permanent(format!(
            "{name} has been served before, which the kernel allows once: mount it anew, and hand that over"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;

    fn message(device: &OwnedFd, options: &MountOptions) -> String {
        prepare(device, Path::new("/dev/fd/3"), options).unwrap_err().message
    }

    #[test]
    fn a_device_that_is_not_mounted_is_refused() {
        let device = OpenOptions::new().read(true).write(true).open("/dev/fuse").unwrap().into();
        let message = message(&device, &MountOptions::default());
        assert!(message.starts_with("/dev/fd/3 is not mounted"), "{message}");
    }

    #[test]
    fn a_connection_that_has_no_first_request_is_refused() {
        let (_other_end, device) = std::io::pipe().map(|(read, write)| (write, read.into())).unwrap();
        let message = message(&device, &MountOptions::default());
        assert!(message.starts_with("/dev/fd/3 has been served before"), "{message}");
    }

    #[test]
    fn options_of_the_mount_are_refused() {
        let device = OpenOptions::new().read(true).open("/dev/null").unwrap().into();
        let of_others = MountOptions { allow_other: true, ..MountOptions::default() };
        assert!(message(&device, &of_others).contains("mount with the option `allow_other`"));
        let of_data = MountOptions { noexec: true, ..MountOptions::default() };
        assert!(message(&device, &of_data).contains("mount with the option `noexec`"));
        let large = MountOptions { kernel_readahead_bytes: 1 << 20, ..MountOptions::default() };
        assert!(message(&device, &large).contains("/sys/class/bdi"));
    }
}
