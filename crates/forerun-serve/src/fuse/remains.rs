//! Dead mounts: their program was killed, and the mount stayed.

use std::fs;
use std::path::Path;

use super::attach::Attachment;

/// Unmounts a dead mount of Forerun by this user from `directory`. Returns false if it belongs to
/// another user or program.
///
/// # Errors
/// The reason why it cannot be unmounted.
pub(crate) fn remove(directory: &Path) -> Result<bool, String> {
    let attachment = Attachment::of_own(directory);
    let mounts = fs::read_to_string("/proc/self/mountinfo").map_err(|error| error.to_string())?;
    let user = rustix::process::getuid().as_raw();
    let is_own = attachment.file_system().is_some_and(|number| is_ours(&mounts, number, user));
    if is_own {
        attachment.try_unmount(true)?;
    }
    Ok(is_own)
}

/// Whether the mountinfo file `mounts` has the file system `number` as a mount of Forerun by
/// `user`.
fn is_ours(mounts: &str, (major, minor): (u32, u32), user: u32) -> bool {
    let number = format!("{major}:{minor}");
    let owner = format!("user_id={user}");
    mounts.lines().any(|line| {
        let Some((mount, file_system)) = line.split_once(" - ") else { return false };
        let options = file_system.rsplit(' ').next().unwrap_or_default();
        mount.split(' ').nth(2) == Some(&number)
            && file_system.starts_with("fuse.forerun ")
            && options.split(',').any(|option| option == owner)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_mounts_of_forerun_by_this_user_are_ours() {
        let mounts = "\
25 1 254:0 / / rw,relatime - ext4 /dev/vda rw
90 25 0:45 / /mnt/a ro,nosuid,nodev shared:7 - fuse.forerun http://host/a ro,user_id=1000,group_id=0
91 25 0:46 / /mnt/b\\040c ro - fuse.rclone x: ro,user_id=1000,group_id=0
";
        assert!(is_ours(mounts, (0, 45), 1000));
        assert!(!is_ours(mounts, (0, 45), 100), "another user's");
        assert!(!is_ours(mounts, (0, 46), 1000), "another program's");
        assert!(!is_ours(mounts, (254, 0), 1000) && !is_ours(mounts, (0, 47), 1000));
    }
}
