//! The kernel's table of mounts.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// The kernel's name for the type of a mount.
const TYPE: &str = "fuse.forerun";

/// A place where Forerun is mounted, by a process of any user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mounted {
    pub(super) directory: PathBuf,
    pub(super) url: String,
    /// The same number elsewhere is the same mount, shown in a second place.
    pub(super) device: String,
}

/// Every mount of Forerun that this process can see, in the order in which they were made.
///
/// # Errors
/// A message that says why the system does not tell.
pub(super) fn mounted() -> Result<Vec<Mounted>, String> {
    let table = fs::read_to_string("/proc/self/mountinfo")
        .map_err(|error| format!("/proc/self/mountinfo cannot be read: {error}; mount /proc"))?;
    Ok(table.lines().filter_map(of_line).collect())
}

fn of_line(line: &str) -> Option<Mounted> {
    let (place, file_system) = line.split_once(" - ")?;
    let mut file_system = file_system.split(' ');
    let url = (file_system.next()? == TYPE).then(|| file_system.next())??;
    let place: Vec<&str> = place.split(' ').collect();
    Some(Mounted {
        directory: OsString::from_vec(unescaped(place.get(4)?)).into(),
        url: String::from_utf8_lossy(&unescaped(url)).into_owned(),
        device: (*place.get(2)?).to_owned(),
    })
}

/// `field` with the bytes that the table writes as `\` and three octal digits.
fn unescaped(field: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = field.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let digits = behind.get(..3).filter(|_| first == b'\\');
        let code = digits.and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 8).ok());
        bytes.push(code.unwrap_or(first));
        rest = if code.is_some() { &behind[3..] } else { behind };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_of_forerun_are_told_from_others_and_spaces_are_read() {
        let line = "90 25 0:45 / /mnt/a\\040b ro,nosuid shared:7 - fuse.forerun s3://a/b\\040c ro,user_id=0";
        let expected =
            Mounted { directory: "/mnt/a b".into(), url: "s3://a/b c".to_owned(), device: "0:45".to_owned() };
        assert_eq!(of_line(line), Some(expected));
        assert_eq!(of_line("91 25 0:46 / /mnt/b ro - fuse.rclone x: ro,user_id=0"), None);
        assert_eq!(of_line("25 1 254:0 / / rw"), None);
        assert_eq!(unescaped("a\\b\\04"), b"a\\b\\04");
    }
}
