//! The log of a mount, in the foreground and in the background.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use tempfile::{NamedTempFile, TempDir};

use super::daemon::Leftovers;
use super::mount::source_and_directory;
use super::support::{DEADLINE, Foreground, forerun, is_mounted, output, runtime, unmount};

/// A file that every listing of `directory` leaves out with a warning.
fn add_name_that_is_no_text(directory: &Path) {
    fs::write(directory.join(OsStr::from_bytes(b"no text \xff")), "").unwrap();
}

/// Runs the arguments after `$1` in a namespace of mounts, where the sockets in the directory `$1` are the system's.
const WITH_LOGS: &str = "set -e; cd $1; mount -t tmpfs devices dev
    for device in null zero tty urandom fuse; do touch dev/$device; mount --bind /dev/$device dev/$device; done
    ln -s $1/syslog dev/log; mount --move dev /dev
    mount -t tmpfs run /run; mkdir -p /run/systemd/journal; ln -s $1/journal /run/systemd/journal/socket
    cd /; shift; exec \"$@\"";

/// Logs of the system that only programs of this test see.
struct Logs {
    place: TempDir,
    syslog: UnixDatagram,
    journal: UnixDatagram,
}

impl Logs {
    fn new() -> Logs {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("dev")).unwrap();
        let [syslog, journal] = ["syslog", "journal"].map(|name| {
            let socket = UnixDatagram::bind(place.path().join(name)).unwrap();
            socket.set_read_timeout(Some(DEADLINE)).unwrap();
            socket
        });
        Logs { place, syslog, journal }
    }

    /// Runs its arguments with these logs.
    fn command(&self) -> Command {
        let mut command = Command::new("unshare");
        command.env_remove("FORERUN_LOG").env("XDG_RUNTIME_DIR", runtime()).stdin(Stdio::null());
        command.args(["--mount", "sh", "-c", WITH_LOGS, "sh"]).arg(self.place.path());
        command
    }

    /// Mounts with `options` in the foreground, started by `starter`, and has it warn. Returns its standard error.
    fn stderr_of_mount(&self, starter: &[&str], options: &[&str]) -> String {
        let (source, directory) = source_and_directory();
        add_name_that_is_no_text(source.path());
        let mut command = self.command();
        command.args(starter).args([env!("CARGO_BIN_EXE_forerun"), "mount"]).args(options);
        let mount = Foreground::start(command.arg(source.path()).arg(directory.path()), directory.path());
        // Only the namespace of the mount has it.
        let seen = format!("/proc/{}/root{}", mount.id(), directory.path().display());
        assert_eq!(output(Command::new("ls").arg(seen)).stdout, b"hello\n");
        mount.signal(Signal::TERM);
        mount.end().1
    }
}

fn message(log: &UnixDatagram) -> String {
    let mut message = [0; 4096];
    let len = log.recv(&mut message).expect("a message comes");
    str::from_utf8(&message[..len]).unwrap().to_owned()
}

fn check_syslog(logs: &Logs) {
    let message = message(&logs.syslog);
    // Daemon (3) and warning (4).
    assert!(message.starts_with("<28>forerun["), "{message}");
    assert!(message.contains("]: forerun::store: ") && message.contains("not UTF-8"), "{message}");
}

#[test]
#[ignore = "needs root: make test runs it as root"]
fn a_daemon_without_a_log_warns_in_syslog() {
    let (source, directory) = source_and_directory();
    add_name_that_is_no_text(source.path());
    let logs = Logs::new();
    let mut command = logs.command();
    command.args(["sh", "-ec", "$0 mount --daemon $1 $2; ls $2; umount $2"]);
    command.args([env!("CARGO_BIN_EXE_forerun").as_ref(), source.path(), directory.path()]);
    let output = output(&mut command);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "hello\n");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("--log"), "the log is kept");
    check_syslog(&logs);
}

#[test]
#[ignore = "needs root: make test runs it as root"]
fn a_mount_warns_in_syslog_if_that_is_wanted() {
    let logs = Logs::new();
    let said = logs.stderr_of_mount(&[], &["--log-format", "syslog"]);
    assert!(!said.contains("not UTF-8"), "{said}");
    check_syslog(&logs);
}

#[test]
#[ignore = "needs root: make test runs it as root"]
fn the_journal_gets_warnings_if_that_is_wanted_or_if_it_reads_standard_error() {
    let logs = Logs::new();
    let reads_stderr = "export JOURNAL_STREAM=$(stat -Lc %d:%i /proc/self/fd/2); exec \"$@\"";
    for (starter, options) in
        [(&[][..], &["--log-format", "journald"][..]), (&["sh", "-c", reads_stderr, "sh"], &[])]
    {
        let said = logs.stderr_of_mount(starter, options);
        assert!(!said.contains("not UTF-8"), "{said}");
        let message = message(&logs.journal);
        assert!(message.starts_with("MESSAGE=") && message.contains("not UTF-8"), "{message}");
        let fields =
            "\nPRIORITY=4\nSYSLOG_FACILITY=3\nSYSLOG_IDENTIFIER=forerun\nFORERUN_TARGET=forerun::store\n";
        assert!(message.ends_with(fields), "{message}");
    }
    // A service may have sent its standard error elsewhere.
    let said = logs.stderr_of_mount(&["env", "JOURNAL_STREAM=1:1"], &[]);
    assert!(said.contains(" WARN forerun::store: "), "{said}");
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
    for has_file in [false, true] {
        let (source, directory) = source_and_directory();
        add_name_that_is_no_text(source.path());
        let log = NamedTempFile::new().unwrap();
        let mut command = forerun();
        command.args(["mount", "--log-format", "json"]);
        if has_file {
            command.arg("--log").arg(log.path());
        }
        let mount = Foreground::start(command.arg(source.path()).arg(directory.path()), directory.path());
        assert!(output(Command::new("ls").arg(directory.path())).status.success());
        unmount(directory.path());
        let (_, said) = mount.end();
        let written = fs::read_to_string(log.path()).unwrap();
        let (said, nothing) = if has_file { (written, said) } else { (said, written) };
        assert!(!nothing.contains("not UTF-8"), "{nothing}");
        let lines: Vec<&str> = said.lines().filter(|line| line.contains("not UTF-8")).collect();
        assert_eq!(lines.len(), 1, "{said}");
        let (begin, middle) =
            ("{\"time\": \"20", ",\"level\": \"warn\",\"target\": \"forerun::store\",\"message\": \"");
        assert!(
            lines[0].starts_with(begin) && lines[0].contains(middle) && lines[0].ends_with("\"}"),
            "{said}"
        );
    }
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
