//! Writes to a local file.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, PermissionsExt};

use super::super::client::Client;
use super::super::holes::{open, states};
use super::super::support::{MIB, pattern};
use super::*;

const SIZE: usize = 3 * MIB + 1234;

fn options() -> Options {
    Options::default().with_memory_bytes(16 << 20)
}

#[test]
fn writes_go_to_the_file_and_are_read_on_every_connection() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("disk.img");
    let mut bytes = pattern(SIZE, 1);
    fs::write(&path, &bytes).unwrap();
    let served = serve_file(&path, options());
    let mut writer = served.open("disk.img");
    let mut reader = served.open_structured("");
    // All of it is in memory before.
    assert!(reader.read(0, SIZE as u32).unwrap() == bytes);
    for (number, (offset, len)) in
        [(0, 1), (4095, 2), (100_000, 900_001), (SIZE - 5, 5)].into_iter().enumerate()
    {
        let written = pattern(len, 10 + number as u64);
        bytes[offset..offset + len].copy_from_slice(&written);
        assert_eq!(write(&mut writer, 0, offset as u64, &written), 0);
        assert!(reader.read(0, SIZE as u32).unwrap() == bytes, "{offset} {len}");
        assert!(fs::read(&path).unwrap() == bytes);
    }
    flush(&mut writer);
    // Its own writes are no other version, for clients that come later neither.
    assert!(served.open("disk.img").read(0, SIZE as u32).unwrap() == bytes);
}

#[test]
fn zeros_and_trimmed_bytes_are_zeros_and_holes_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("disk.img");
    let mut bytes = pattern(4 * MIB, 1);
    fs::write(&path, &bytes).unwrap();
    let served = serve_file(&path, options());
    let mut client = open(&served, "disk.img");
    assert!(client.read(0, 4 << 20).unwrap() == bytes);
    assert_eq!(ask(&mut client, WRITE_ZEROES, 0, 1 << 20, 1 << 20), 0);
    bytes[MIB..2 * MIB].fill(0);
    assert_eq!(ask(&mut client, WRITE_ZEROES, FLAG_NO_HOLE | FLAG_FUA, 5, 70_000), 0);
    bytes[5..70_005].fill(0);
    assert!(client.read(0, 4 << 20).unwrap() == bytes);
    assert_eq!(ask(&mut client, TRIM, 0, 3 << 20, 1 << 20), 0);
    let file = File::open(&path).unwrap();
    let mut found = vec![0; 4 * MIB];
    file.read_exact_at(&mut found, 0).unwrap();
    assert!(found[..3 * MIB] == bytes[..3 * MIB]);
    assert!(client.read(0, 4 << 20).unwrap() == found, "whatever the file system has made of it");
    let total: u32 = states(&mut client, 0, 0, 4 << 20).iter().map(|(len, _)| len).sum();
    assert_eq!(total, 4 << 20);
}

#[test]
fn files_that_cannot_be_written_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("disk.img");
    fs::write(&path, pattern(5000, 1)).unwrap();
    let runtime = Runtime::new().unwrap();
    let refusal = |forerun: &Forerun| runtime.block_on(WritableObject::open(forerun)).unwrap_err().message;
    let of = |path: &Path| Forerun::connect_blocking(path.to_str().unwrap(), options()).unwrap();
    let served = serve_file(&path, options());
    let said = refusal(&of(&path));
    assert!(said.contains("end the server that writes it"), "{said}");
    served.end();
    let said = refusal(&of(folder.path()));
    assert!(said.contains("it is a directory; name a local file or an image of Ceph"), "{said}");
    let said = refusal(&base(vec![1; 10]).1);
    assert!(said.contains("it is a directory"), "{said}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    // Root may write it nevertheless.
    if File::options().write(true).open(&path).is_err() {
        let said = refusal(&of(&path));
        assert!(said.contains("disk.img") && said.contains("cannot be opened for writing"), "{said}");
    }
}

#[test]
fn a_file_that_is_cut_short_is_an_error_and_no_other_version() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("disk.img");
    let bytes = pattern(8 * MIB, 1);
    fs::write(&path, &bytes).unwrap();
    let served = serve_file(&path, options());
    let mut client = served.open("disk.img");
    let file = File::options().write(true).open(&path).unwrap();
    file.set_len(4 << 20).unwrap();
    assert_eq!(client.read(6 << 20, 4096), Err(EIO));
    assert!(client.read(0, 4096).unwrap() == bytes[..4096]);
    // A write beyond makes it long again.
    assert_eq!(write(&mut client, 0, (8 << 20) - 1, &[5]), 0);
    assert!(client.read(6 << 20, 4096).unwrap() == vec![0; 4096]);
    assert_eq!(Client::unix(&served.socket).go("disk.img").0, 8 << 20);
}
