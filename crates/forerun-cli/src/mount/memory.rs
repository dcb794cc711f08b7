//! Whether the machine has the memory that a mount may take.

use crate::units::show_size;

/// What to say where `bytes` are more than there are; a mount takes them only when it has read so much.
pub(super) fn doubt(bytes: u64) -> Option<String> {
    let info = rustix::system::sysinfo();
    // The field's width differs between machines.
    #[allow(clippy::useless_conversion)]
    let all = u64::from(info.totalram).saturating_mul(u64::from(info.mem_unit));
    too_much(bytes, all)
}

fn too_much(bytes: u64, all: u64) -> Option<String> {
    let (wanted, all_shown) = (show_size(bytes), show_size(all >> 20 << 20));
    (bytes > all).then(|| {
        format!(
            "--memory {wanted} is more than this machine has ({all_shown}): once the mount uses that much, the \
             machine swaps or ends it; give a smaller --memory"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_there_is_doubted() {
        assert_eq!(too_much(256 << 20, 256 << 20), None);
        assert!(
            too_much(2 << 30, 1 << 30)
                .unwrap()
                .contains("--memory 2 GiB is more than this machine has (1 GiB)")
        );
        assert_eq!(doubt(1 << 20), None);
        assert!(doubt(u64::MAX).is_some());
    }
}
