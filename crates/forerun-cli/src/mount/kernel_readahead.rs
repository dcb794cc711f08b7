//! `--kernel-readahead`: how far the kernel reads ahead above a mount.

use forerun::PolicyKind;
use forerun_serve::fuse::{KERNEL_READAHEAD_BYTES, KERNEL_READAHEAD_BYTES_OFFERED};

use crate::units::parse_size;

/// More than any memory is of use for.
const BYTES_MAX: u64 = 1 << 30;

/// How far the kernel itself may read ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KernelReadahead {
    /// The size that suits the policy and the storage.
    Auto,
    /// This many bytes.
    Bytes(u64),
}

impl KernelReadahead {
    /// In bytes, above a mount with `policy`. Policies of other software have
    /// the kernel's own readahead above, as they have elsewhere. A local directory has it as
    /// well, since a fault there costs more than the bytes that the kernel reads around it.
    pub(crate) fn bytes(self, policy: PolicyKind, is_local: bool) -> u64 {
        match self {
            KernelReadahead::Bytes(bytes) => bytes,
            KernelReadahead::Auto if policy == PolicyKind::default() && !is_local => KERNEL_READAHEAD_BYTES,
            KernelReadahead::Auto => KERNEL_READAHEAD_BYTES_OFFERED,
        }
    }

    /// As a user gives it.
    pub(super) fn parse(text: &str) -> Result<KernelReadahead, String> {
        if text == "auto" {
            return Ok(KernelReadahead::Auto);
        }
        match parse_size(text)? {
            // Without any, the kernel would read page by page.
            bytes @ KERNEL_READAHEAD_BYTES..=BYTES_MAX => Ok(KernelReadahead::Bytes(bytes)),
            _ => Err("expected auto, or a size from 4KiB (one page) to 1GiB".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_window_is_a_page_under_adaptive_unless_one_is_chosen() {
        let bytes = |text: &str, policy| KernelReadahead::parse(text).unwrap().bytes(policy, false);
        assert_eq!(bytes("auto", PolicyKind::Adaptive), 4096);
        assert_eq!(bytes("auto", PolicyKind::None), 128 << 10);
        assert_eq!(bytes("1MiB", PolicyKind::Adaptive), 1 << 20);
        assert_eq!(KernelReadahead::Auto.bytes(PolicyKind::Adaptive, true), 128 << 10, "of a directory");
        for text in ["much", "0", "4095", "2GiB"] {
            assert!(KernelReadahead::parse(text).is_err(), "{text}");
        }
    }
}
