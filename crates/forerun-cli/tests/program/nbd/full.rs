//! Disks that are full.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::super::nbd_client::Client;
use super::super::numbers::*;
use super::super::support::forerun;
use super::Serving;

const SIZE: usize = 8 << 20;

fn write(client: &mut Client, offset: u64, bytes: &[u8]) -> u32 {
    let cookie = client.request(WRITE, 0, offset, bytes.len() as u32);
    client.send(bytes);
    client.outcome(cookie)
}

fn flush(client: &mut Client) {
    let cookie = client.request(FLUSH, 0, 0, 0);
    assert_eq!(client.outcome(cookie), 0);
}

/// A server of `disk.img` in `folder` with its overlay in `changes`, below `before`.
fn serve(folder: &Path, changes: &Path, before: &[&str]) -> Serving {
    let program = forerun().get_program().to_owned();
    let mut command = match before {
        [] => Command::new(program),
        [first, rest @ ..] => {
            let mut command = Command::new(first);
            command.args(rest).arg(program);
            command
        }
    };
    command.current_dir(folder).args(["nbd", "--memory", "16MiB", "--unix", "nbd", "--overlay"]);
    command.env("XDG_RUNTIME_DIR", super::super::support::runtime());
    Serving::start(command.arg(changes).arg("disk.img"))
}

/// Fills the overlay until it takes no more; then all that was flushed is there, also for the next server.
fn check(folder: &Path, changes: &Path, before: &[&str]) {
    let socket = folder.join("nbd");
    let serving = serve(folder, changes, before);
    let mut client = Client::unix(&socket);
    client.go("");
    let (mut expected, mut is_full) = (vec![1; SIZE], false);
    for (number, offset) in (0..SIZE).step_by(65_536).enumerate() {
        match write(&mut client, offset as u64, &[number as u8 + 2; 65_536]) {
            0 => expected[offset..offset + 65_536].fill(number as u8 + 2),
            error => {
                assert_eq!(error, ENOSPC);
                is_full = true;
                break;
            }
        }
        flush(&mut client);
    }
    assert!(is_full, "there was space for all");
    flush(&mut client);
    let full = expected.iter().position(|byte| *byte == 1).unwrap();
    assert!(client.read(0, full as u32).unwrap() == expected[..full]);
    // Blocks that have a place already can be written again.
    assert_eq!(write(&mut client, 0, &[99; 65_536]), 0);
    expected[..65_536].fill(99);
    flush(&mut client);
    drop(serving);
    let _serving = serve(folder, changes, &[]);
    let mut client = Client::unix(&socket);
    client.go("");
    assert!(client.read(0, full as u32).unwrap() == expected[..full]);
    // A block whose write has failed may have its bytes or not.
    let rest = client.read(full as u64, (SIZE - full) as u32).unwrap();
    let failed = (full / 65_536 + 2) as u8;
    assert!(rest[..65_536].chunks(4096).all(|block| block == [1; 4096] || block == [failed; 4096]));
    assert!(rest[65_536..].iter().all(|byte| *byte == 1));
}

fn image(folder: &Path) {
    fs::write(folder.join("disk.img"), vec![1; SIZE]).unwrap();
}

#[test]
fn a_limit_of_files_is_no_space_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    image(folder.path());
    let changes = folder.path().join("changes");
    // The file is made without the limit.
    assert_eq!(serve(folder.path(), &changes, &[]).end().0, Some(0));
    let script = "trap '' XFSZ; ulimit -f 4096; exec \"$@\"";
    check(folder.path(), &changes, &["sh", "-c", script, "sh"]);
}

/// A file system in memory, unmounted when dropped.
struct Mounted<'a>(&'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.0).status();
    }
}

#[test]
#[ignore = "mounts a file system, which needs root"]
fn a_full_disk_is_no_space_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    image(folder.path());
    let disk = folder.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let mount = ["-t", "tmpfs", "-o", "size=2m", "tmpfs"];
    assert!(Command::new("mount").args(mount).arg(&disk).status().unwrap().success());
    let _mounted = Mounted(&disk);
    check(folder.path(), &disk.join("changes"), &[]);
}
