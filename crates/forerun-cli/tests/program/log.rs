//! The log of a mount, in the foreground and in the background.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::Command;

use super::daemon::Leftovers;
use super::mount::source_and_directory;
use super::support::{DEADLINE, Foreground, forerun, is_mounted, output, runtime, unmount};

/// A file that every listing of `directory` leaves out with a warning.
fn add_name_that_is_no_text(directory: &Path) {
    fs::write(directory.join(OsStr::from_bytes(b"no text \xff")), "").unwrap();
}

#[test]
#[ignore = "needs root: make test runs it as root"]
fn a_daemon_without_a_log_warns_in_syslog() {
    let (source, directory) = source_and_directory();
    add_name_that_is_no_text(source.path());
    let place = tempfile::tempdir().unwrap();
    let (socket, devices) = (place.path().join("log"), place.path().join("dev"));
    fs::create_dir(&devices).unwrap();
    let syslog = UnixDatagram::bind(&socket).unwrap();
    syslog.set_read_timeout(Some(DEADLINE)).unwrap();
    // A /dev with a log, and a mount, that only this script sees.
    let script = "set -e; mount -t tmpfs devices $1
        for device in null zero tty urandom fuse; do touch $1/$device; mount --bind /dev/$device $1/$device; done
        touch $1/log; mount --bind $2 $1/log; mount --move $1 /dev
        $3 mount --daemon $4 $5; ls $5; umount $5";
    let mut command = Command::new("unshare");
    command.env("XDG_RUNTIME_DIR", runtime()).args(["--mount", "sh", "-c", script, "sh"]);
    command.arg(&devices).arg(&socket).arg(env!("CARGO_BIN_EXE_forerun"));
    let output = output(command.arg(source.path()).arg(directory.path()));
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "hello\n");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("--log"), "the log is kept");

    let mut message = [0; 4096];
    let len = syslog.recv(&mut message).expect("a message comes");
    let message = str::from_utf8(&message[..len]).unwrap();
    // Daemon (3) and warning (4).
    assert!(message.starts_with("<28>forerun["), "{message}");
    assert!(message.contains("]: forerun::store: ") && message.contains("not UTF-8"), "{message}");
}

#[test]
fn a_daemon_that_nobody_listens_to_says_so_before_it_goes_away() {
    let (source, directory) = source_and_directory();
    let _leftovers = Leftovers(directory.path());
    let output = output(forerun().args(["mount", "--daemon"]).arg(source.path()).arg(directory.path()));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && is_mounted(directory.path()), "{said}");
    let has_listener = Path::new("/dev/log").exists();
    assert_eq!(said.contains("/dev/log") && said.contains("--log FILE"), !has_listener, "{said}");
    unmount(directory.path());
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

#[test]
fn each_warning_is_a_line_of_json_if_that_is_wanted() {
    let (source, directory) = source_and_directory();
    add_name_that_is_no_text(source.path());
    let mut command = forerun();
    command.args(["mount", "--log-format", "json"]).arg(source.path()).arg(directory.path());
    let mount = Foreground::start(&mut command, directory.path());
    assert!(output(Command::new("ls").arg(directory.path())).status.success());
    unmount(directory.path());
    let (_, said) = mount.end();
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("not UTF-8")).collect();
    assert_eq!(lines.len(), 1, "{said}");
    let (begin, middle) =
        ("{\"time\": \"20", ",\"level\": \"warn\",\"target\": \"forerun::store\",\"message\": \"");
    assert!(lines[0].starts_with(begin) && lines[0].contains(middle) && lines[0].ends_with("\"}"), "{said}");
}

#[test]
fn a_system_log_is_no_file() {
    let (source, directory) = source_and_directory();
    let mut command = forerun();
    command.args(["mount", "--log", "/dev/null", "--log-format", "syslog"]);
    let output = output(command.arg(source.path()).arg(directory.path()));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && said.contains("--log FILE takes text or json"), "{said}");
}
