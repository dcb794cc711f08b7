//! The goals of Forerun's rows.

use super::boot_source::BootSource;

/// A limit for a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum VmGoal {
    /// The shell comes before that of every other server.
    FirstShell,
    /// `grep -r` takes less time than from every other server.
    FastestGrep,
    /// The most time to the shell, as a multiple of that from a local file.
    LocalBoot(f64),
    /// The most bytes from the store, as a multiple of those that the machine reads.
    Bytes(f64),
}

const LOCAL_BOOT_MAX: f64 = 1.2;
const BYTES_MAX: f64 = 1.3;

impl BootSource {
    pub(super) fn goals(self) -> &'static [VmGoal] {
        match self {
            BootSource::Forerun => &[VmGoal::FirstShell, VmGoal::FastestGrep, VmGoal::Bytes(BYTES_MAX)],
            BootSource::Learned => &[
                VmGoal::FirstShell,
                VmGoal::FastestGrep,
                VmGoal::LocalBoot(LOCAL_BOOT_MAX),
                VmGoal::Bytes(BYTES_MAX),
            ],
            _ => &[],
        }
    }
}

impl VmGoal {
    pub(super) fn title(self) -> String {
        match self {
            VmGoal::FirstShell => "fastest boot".to_owned(),
            VmGoal::FastestGrep => "fastest grep".to_owned(),
            VmGoal::LocalBoot(most) => format!("{most} × local boot"),
            VmGoal::Bytes(most) => format!("{most} × read"),
        }
    }
}
