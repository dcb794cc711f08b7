//! The notices of a mount to the service manager that has started it.

use std::fs;
use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::process::Command;

use rustix::process::Signal;

use super::mount::{HELLO, source_and_directory};
use super::support::{DEADLINE, Foreground, cat, forerun, is_mounted, runtime, unmount};
use super::users::NOBODY;

/// The next notice.
pub(crate) fn notice(manager: &UnixDatagram) -> String {
    manager.set_read_timeout(Some(DEADLINE)).unwrap();
    let mut bytes = [0; 4096];
    let received = loop {
        match manager.recv(&mut bytes) {
            // A signal of another test may end the wait.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            received => break received,
        }
    };
    let len = received.expect("a notice comes");
    String::from_utf8(bytes[..len].to_vec()).unwrap()
}

#[test]
fn a_mount_tells_that_it_is_ready_answers_and_stops() {
    let (source, directory) = source_and_directory();
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("notify");
    let manager = UnixDatagram::bind(&socket).unwrap();
    let mut command = forerun();
    command.env("NOTIFY_SOCKET", &socket).env("WATCHDOG_USEC", "200000");
    command.arg("mount").arg(source.path()).arg(directory.path());
    let mount = Foreground::start(&mut command, directory.path());
    let ready = notice(&manager);
    assert!(ready.starts_with("READY=1\nSTATUS=") && ready.contains(" on "), "{ready}");
    assert!(is_mounted(directory.path()));
    assert_eq!(cat(&directory.path().join("hello")), HELLO);
    for _ in 0..3 {
        assert_eq!(notice(&manager), "WATCHDOG=1");
    }
    mount.signal(Signal::TERM);
    let last = std::iter::repeat_with(|| notice(&manager)).find(|notice| notice != "WATCHDOG=1");
    assert_eq!(last.unwrap(), "STOPPING=1\nSTATUS=unmounting");
    assert_eq!(mount.end().0.code(), Some(0));
}

#[test]
fn abstract_sockets_are_told_and_another_process_watchdog_is_left_alone() {
    let (source, directory) = source_and_directory();
    let name = format!("forerun-test-{}", std::process::id());
    let manager = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let mut command = forerun();
    command.env("NOTIFY_SOCKET", format!("@{name}")).env("WATCHDOG_USEC", "1000").env("WATCHDOG_PID", "1");
    command.arg("mount").arg(source.path()).arg(directory.path());
    let mount = Foreground::start(&mut command, directory.path());
    assert!(notice(&manager).starts_with("READY=1\n"));
    assert_eq!(cat(&directory.path().join("hello")), HELLO);
    unmount(directory.path());
    assert!(notice(&manager).starts_with("STOPPING=1\n"));
    assert_eq!(mount.end().0.code(), Some(0));
}

#[test]
#[ignore = "needs root: make test runs it as root"]
fn the_rights_of_the_units_are_enough_for_a_mount_of_others_files() {
    for unit in
        [include_str!("../../pages/forerun.service.in"), include_str!("../../pages/forerun@.service.in")]
    {
        let kept = unit.lines().find_map(|line| line.strip_prefix("CapabilityBoundingSet=")).unwrap();
        let kept = kept.to_lowercase().replace("cap_", "+").replace(' ', ",");
        let (source, directory) = source_and_directory();
        for (path, mode) in [(source.path().join("hello"), 0o600), (source.path().to_owned(), 0o700)] {
            chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        let mut command = Command::new("setpriv");
        command.env("XDG_RUNTIME_DIR", runtime());
        command.args(["--no-new-privs", &format!("--bounding-set=-all,{kept}"), "--"]);
        command.args([env!("CARGO_BIN_EXE_forerun"), "mount"]).arg(source.path()).arg(directory.path());
        let mount = Foreground::start(&mut command, directory.path());
        assert_eq!(cat(&directory.path().join("hello")), HELLO);
        mount.signal(Signal::TERM);
        let (status, said) = mount.end();
        assert!(status.success() && !is_mounted(directory.path()), "{said}");
    }
}
