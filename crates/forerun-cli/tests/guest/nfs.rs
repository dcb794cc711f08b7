//! The kernel mounts exports of `forerun serve --nfs`.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::machine::Machine;
use super::serving::Serving;
use super::support::others::run;
use super::support::program::forerun;
use super::support::{Store, pattern};

/// Their handles have no room for the path.
const DEEP: &str = "component/component/component/component/component/component";
/// More than a page of a listing has.
const MANY: usize = 5000;
const MANY_OBJECTS: usize = 2000;

/// Makes a file, and the directories that it is in. The disk keeps whole seconds of its time.
fn write(path: &Path, bytes: &[u8], modified: SystemTime) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
    File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
}

/// A time of its own for each number.
fn time(number: usize) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_000_000_000 + 100_000 * number as u64)
}

/// Files whose names and sizes a server or a client may get wrong.
fn write_tree(folder: &Path) {
    let kib = 1 << 10;
    let sizes =
        [0, 1, 4095, 4096, 4097, 64 * kib, 1024 * kib - 1, 1024 * kib, 1024 * kib + 1, 3000 * kib + 77];
    for (number, size) in sizes.into_iter().enumerate() {
        write(&folder.join("sizes").join(size.to_string()), &pattern(size, number as u64), time(number));
    }
    let names =
        ["blanks and ü".to_owned(), "n".repeat(255), format!("{DEEP}/file"), ".hidden/file".to_owned()];
    for (number, name) in names.into_iter().enumerate() {
        write(&folder.join(name), format!("file {number}").as_bytes(), time(100 + number));
    }
}

/// The export `files` in `folder`: files of all kinds, a directory of many, and a large file.
fn write_files(folder: &Path) {
    let tree = folder.join("tree");
    write_tree(&tree);
    // No bucket shows such a name.
    write(&tree.join("two\nlines"), b"two", time(201));
    fs::create_dir(tree.join("empty")).unwrap();
    fs::create_dir(tree.join("links")).unwrap();
    for (link, target) in [("file", "../sizes/4097"), ("directory", "../sizes"), ("nowhere", "/missing/file")]
    {
        symlink(target, tree.join("links").join(link)).unwrap();
    }
    write(&tree.join("program"), b"#!/bin/sh\necho ran\n", time(200));
    fs::set_permissions(tree.join("program"), Permissions::from_mode(0o755)).unwrap();
    for number in 0..MANY {
        let name = format!("many/of these names fill the pages of a listing {number}");
        write(&folder.join(name), number.to_string().as_bytes(), time(number));
    }
    write(&folder.join("large.bin"), &pattern(32 << 20, 7), time(300));
}

/// The export `rights` in `folder`.
fn write_rights(folder: &Path) {
    let private = folder.join("private");
    write(&private, b"private", UNIX_EPOCH + Duration::new(1_234_567_890, 123_456_789));
    fs::set_permissions(private, Permissions::from_mode(0o600)).unwrap();
    write(&folder.join("changing"), b"first", time(0));
}

/// Puts the same objects into the bucket of `store` and into `folder`.
fn write_objects(store: &Store, folder: &Path) {
    for folder in [&store.at(""), folder] {
        write_tree(folder);
        (0..MANY_OBJECTS).for_each(|number| write(&folder.join(format!("many/{number}")), b"", time(number)));
    }
}

fn serve(address: &str, folder: &Path) -> Serving {
    let mut server = forerun();
    server.current_dir(folder).args(["serve", "--memory", "32MiB", "--nfs", address]);
    server.args(["shared/files", "rights"]);
    Serving::start(&mut server)
}

fn serve_bucket(store: &Store) -> Serving {
    let mut server = forerun();
    server.args(["serve", "--memory", "32MiB", "--nfs", "127.0.0.1:0"]);
    server.args(["--endpoint", &store.endpoint, "s3://bucket"]);
    server.env("AWS_ACCESS_KEY_ID", "id").env("AWS_SECRET_ACCESS_KEY", "key");
    Serving::start(&mut server)
}

fn port_of(address: &str) -> &str {
    address.rsplit(':').next().unwrap()
}

#[test]
#[ignore = "needs a virtual machine, which `make nfs-guest` makes"]
fn the_kernel_reads_exports() {
    let (folder, store) = (tempfile::tempdir().unwrap(), Store::start());
    let at = |name: &str| folder.path().join(name);
    write_files(&at("shared/files"));
    write_objects(&store, &at("shared/bucket"));
    write_rights(&at("rights"));
    let [shared, disk] = ["shared", "disk"].map(at);
    run("mkfs.ext4", &["-q", "-d", shared.to_str().unwrap(), disk.to_str().unwrap(), "256M"]);

    let first = serve("127.0.0.1:0", folder.path());
    let address = first.address("nfs://").to_owned();
    let of_bucket = serve_bucket(&store);
    let [files, bucket] = [&address, of_bucket.address("nfs://")].map(port_of);
    let script = format!("files={files} store={bucket} deep={DEEP}\n{}", include_str!("nfs.sh"));
    let mut machine = Machine::start(&script, &[&disk], None);
    assert_eq!(machine.told("compared"), "files");
    assert_eq!(machine.told("compared"), "readers");

    assert_eq!(machine.told("await"), "change");
    write(&at("rights/new"), b"second", time(1));
    fs::rename(at("rights/new"), at("rights/changing")).unwrap();

    assert_eq!(machine.told("await"), "restart");
    // It ends without a word to its clients.
    drop(first);
    let second = serve(&address, folder.path());
    assert_eq!(machine.told("unmounted"), "all");
    drop(machine);
    assert_eq!(second.end(), (Some(0), String::new()));
    // Its log has keys of the bucket that no file can have.
    assert_eq!(of_bucket.end().0, Some(0));
}
