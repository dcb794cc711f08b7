//! The parts of a virtual machine that differ from row to row, in QEMU's options.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

/// The connection of the machine to its disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Bus {
    /// The disk of an old computer, which reads sector by sector until Linux runs
    Ide,
    /// A disk of virtual machines
    Virtio,
}

/// The processor of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accelerator {
    Kvm,
    Emulation,
}

/// The bytes that the machine boots from.
#[derive(Clone, Debug)]
pub(super) enum BootDisk {
    File(PathBuf),
    /// The socket of a server.
    Socket(PathBuf),
}

impl Bus {
    /// The name in the table.
    pub(super) fn title(self) -> &'static str {
        match self {
            Bus::Ide => "IDE",
            Bus::Virtio => "virtio",
        }
    }

    pub(super) fn device(self) -> &'static str {
        match self {
            Bus::Ide => "ide-hd,bus=ide.0,drive=disk",
            Bus::Virtio => "virtio-blk-pci,drive=disk",
        }
    }
}

impl Accelerator {
    /// The name in the table's caption.
    pub(super) fn title(self) -> &'static str {
        match self {
            Accelerator::Kvm => "KVM",
            Accelerator::Emulation => "QEMU's emulation (tcg)",
        }
    }

    pub(super) fn options(self) -> [&'static str; 4] {
        match self {
            Accelerator::Kvm => ["-accel", "kvm", "-cpu", "host"],
            Accelerator::Emulation => ["-accel", "tcg,thread=single", "-cpu", "max"],
        }
    }
}

impl BootDisk {
    /// The node of QEMU's with these bytes.
    pub(super) fn node(&self) -> String {
        // A comma would end the name.
        let escaped = |path: &Path| path.display().to_string().replace(',', ",,");
        match self {
            BootDisk::File(path) => format!("driver=file,filename={}", escaped(path)),
            BootDisk::Socket(path) => format!("driver=nbd,server.type=unix,server.path={}", escaped(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_are_named_as_qemu_wants_them() {
        assert_eq!(BootDisk::File("a,b".into()).node(), "driver=file,filename=a,,b");
        assert_eq!(BootDisk::Socket("/s".into()).node(), "driver=nbd,server.type=unix,server.path=/s");
    }
}
