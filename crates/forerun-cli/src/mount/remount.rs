//! `mount -o remount` of a mount: `mount` has `mount.fuse` run the program that serves it, as
//! `forerun SOURCE DIR -o OPTIONS`, and that is to change the options of the kernel.

use std::error::Error;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use rustix::mount::{MountFlags, mount_remount};

/// A remount, as `mount` asks for it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Remount {
    directory: PathBuf,
    flags: MountFlags,
}

impl Remount {
    /// The remount that `arguments`, those of the program, ask for, if they do.
    pub(crate) fn from_arguments(arguments: &[OsString]) -> Option<Remount> {
        let [_, _, directory, option, list] = arguments else { return None };
        let list = list.to_str().filter(|_| option == "-o")?;
        let is_remount = list.split(',').any(|option| option == "remount");
        is_remount.then(|| Remount::of(directory.into(), list))
    }

    /// The change of the mount on `directory` to the options in `list`.
    pub(super) fn of(directory: PathBuf, list: &str) -> Remount {
        Remount { directory, flags: flags_of(list) }
    }

    /// Has the kernel change the options of the mount.
    ///
    /// # Errors
    /// If the system refuses.
    pub(crate) fn run(&self) -> Result<ExitCode, Box<dyn Error>> {
        // The kernel keeps the options of FUSE, whatever these are.
        mount_remount(&self.directory, self.flags, c"").map_err(|errno| {
            let error = io::Error::from(errno);
            format!(
                "{} cannot be remounted: {error}; unmount it, and mount it again",
                self.directory.display()
            )
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The flags that `list` names. `mount` names all, those that stay as they are included, and
/// beside them options of FUSE. The last of contradicting ones counts.
fn flags_of(list: &str) -> MountFlags {
    let mut flags = MountFlags::empty();
    for option in list.split(',') {
        let (flag, is_set) = match option {
            "ro" => (MountFlags::RDONLY, true),
            "rw" => (MountFlags::RDONLY, false),
            "nosuid" => (MountFlags::NOSUID, true),
            "suid" => (MountFlags::NOSUID, false),
            "nodev" => (MountFlags::NODEV, true),
            "dev" => (MountFlags::NODEV, false),
            "noexec" => (MountFlags::NOEXEC, true),
            "exec" => (MountFlags::NOEXEC, false),
            "noatime" => (MountFlags::NOATIME, true),
            "atime" => (MountFlags::NOATIME, false),
            "nodiratime" => (MountFlags::NODIRATIME, true),
            "diratime" => (MountFlags::NODIRATIME, false),
            "relatime" => (MountFlags::RELATIME, true),
            "strictatime" => (MountFlags::STRICTATIME, true),
            _ => continue,
        };
        flags.set(flag, is_set);
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(arguments: &[&str]) -> Option<Remount> {
        Remount::from_arguments(&arguments.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn a_remount_is_told_from_the_commands() {
        let options = "ro,nosuid,nodev,relatime,remount,noexec,exec,noexec,user_id=0,allow_other";
        let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        let remount = Remount { directory: "/mnt/a".into(), flags: flags | MountFlags::RELATIME };
        assert_eq!(asked(&["forerun", "http://host/", "/mnt/a", "-o", options]), Some(remount));
        assert_eq!(asked(&["forerun", "http://host/", "/mnt/a", "-o", "ro"]), None);
        assert_eq!(asked(&["forerun", "mount", "http://host/", "/mnt/a"]), None);
    }
}
