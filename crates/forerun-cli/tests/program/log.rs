//! The log of a mount.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use super::mount::source_and_directory;
use super::support::{Foreground, forerun, output, unmount};

/// A file that every listing of `directory` leaves out with a warning.
fn add_name_that_is_no_text(directory: &Path) {
    fs::write(directory.join(OsStr::from_bytes(b"no text \xff")), "").unwrap();
}

#[test]
fn a_warning_is_shown_once_and_counted() {
    let (source, directory) = source_and_directory();
    add_name_that_is_no_text(source.path());
    let mut command = forerun();
    command.args(["mount", "--metadata-ttl", "0s"]).arg(source.path()).arg(directory.path());
    let mount = Foreground::start(&mut command, directory.path());
    for _ in 0..3 {
        assert!(output(Command::new("ls").arg(directory.path())).status.success());
    }
    unmount(directory.path());
    let (_, said) = mount.end();
    let warnings: Vec<&str> = said.lines().filter(|line| line.contains(" WARN ")).collect();
    assert_eq!(warnings.len(), 2, "{said}");
    assert!(warnings[0].contains(" WARN forerun::store: ") && warnings[0].contains("not UTF-8"), "{said}");
    assert!(warnings[1].contains("not UTF-8") && warnings[1].contains("more times since"), "{said}");
}
