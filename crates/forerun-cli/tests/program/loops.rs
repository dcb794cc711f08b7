//! Images of file systems on a mount, which the kernel mounts from loop devices.

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use tempfile::TempDir;

use super::bytes::pattern;
use super::serve::serve;
use super::serving::Serving;
use super::support::{Foreground, forerun, output, unmount, unmount_leftovers};

/// The file systems, and the program that puts the directory `tree` into an image with the name of the file system.
const FILE_SYSTEMS: [(&str, &[&str]); 3] = [
    ("erofs", &["mkfs.erofs", "-zlz4", "erofs", "tree"]),
    ("squashfs", &["mksquashfs", "tree", "squashfs", "-quiet", "-no-progress"]),
    ("ext4", &["mkfs.ext4", "-q", "-d", "tree", "ext4", "32M"]),
];

/// A loop device, and a file system mounted from it. Both are taken away when dropped.
struct Looped {
    device: String,
    directory: TempDir,
}

impl Looped {
    fn new(image: &Path, file_system: &str, options: &[&str]) -> Looped {
        let mut set_up = command("losetup", &["--find", "--show", "--read-only"]);
        let device = run(set_up.args(options).arg(image)).trim().to_owned();
        let looped = Looped { device, directory: tempfile::tempdir().unwrap() };
        let mut mount = command("mount", &["-t", file_system, "-o", "ro", &looped.device]);
        run(mount.arg(looped.directory.path()));
        looped
    }
}

impl Drop for Looped {
    fn drop(&mut self) {
        unmount_leftovers(self.directory.path());
        let _ = command("losetup", &["--detach", &self.device]).status();
    }
}

fn command(program: &str, arguments: &[&str]) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(program);
    // Users' paths may lack it, and mkfs is there.
    command.args(arguments).env("PATH", format!("{path}:/usr/sbin"));
    command
}

/// Runs `command`, which must succeed; what it printed.
#[track_caller]
fn run(command: &mut Command) -> String {
    let done = output(command);
    assert!(done.status.success(), "{command:?}: {done:?}");
    String::from_utf8(done.stdout).unwrap()
}

/// A folder with a tree of files, and an image of it for each file system.
fn images() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    fs::create_dir_all(tree.join("a/b/c")).unwrap();
    fs::create_dir(tree.join("many")).unwrap();
    fs::write(tree.join("empty"), "").unwrap();
    fs::write(tree.join("a/large"), pattern(5_000_001, 1)).unwrap();
    // It can be compressed, unlike the others.
    fs::write(tree.join("a/b/text"), "a line of many\n".repeat(100_000)).unwrap();
    symlink("../large", tree.join("a/b/link")).unwrap();
    fs::hard_link(tree.join("a/b/text"), tree.join("a/b/c/same")).unwrap();
    let sparse = fs::File::create(tree.join("sparse")).unwrap();
    sparse.write_all_at(&pattern(10_000, 2), 3_000_000).unwrap();
    for number in 0..300 {
        fs::write(tree.join(format!("many/{number:03}")), pattern(number * 97, number as u64)).unwrap();
    }
    fs::set_permissions(tree.join("a/b/text"), fs::Permissions::from_mode(0o4710)).unwrap();
    for (_, make) in FILE_SYSTEMS {
        run(command(make[0], &make[1..]).current_dir(folder.path()));
    }
    folder
}

/// Types, rights, targets of links and names of all files in `directory`.
fn listing(directory: &Path) -> Vec<String> {
    let mut find = command("find", &[".", "-name", "lost+found", "-prune", "-o", "-printf", "%y %m %l %P\n"]);
    let listed = run(find.current_dir(directory));
    let mut lines: Vec<_> = listed.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Whether `image` holds `tree`, with a loop device that reads by `options`.
fn check(image: &Path, file_system: &str, options: &[&str], tree: &Path) {
    let looped = Looped::new(image, file_system, options);
    let found = looped.directory.path();
    assert_eq!(listing(found), listing(tree), "{file_system} {options:?}");
    let mut diff = command("diff", &["--recursive", "--no-dereference", "--exclude=lost+found"]);
    let same = output(diff.arg(tree).arg(found));
    assert!(same.status.success(), "{file_system} {options:?}: {same:?}");
    unmount(found);
}

fn mount(url: &str, options: &[&str]) -> (Foreground, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let mut mount = forerun();
    mount.env("AWS_EC2_METADATA_DISABLED", "true").args(["mount", "--memory", "16MiB"]).args(options);
    let mount = Foreground::start(mount.arg(url).arg(directory.path()), directory.path());
    (mount, directory)
}

fn end(mount: Foreground) -> String {
    mount.signal(Signal::TERM);
    let (status, said) = mount.end();
    assert_eq!(status.code(), Some(0), "{said}");
    said
}

/// Checks each image at `url`, with each of the ways in which a loop device reads.
fn check_all(url: &str, options: &[&str], tree: &Path) {
    let (mount, directory) = mount(url, options);
    for (file_system, _) in FILE_SYSTEMS {
        for options in [&[][..], &["--direct-io=on"]] {
            check(&directory.path().join(file_system), file_system, options, tree);
        }
    }
    let said = end(mount);
    assert!(said.starts_with("forerun: unmounted ") && said.lines().count() == 1, "{said}");
}

/// A store of the images, and the options for its bucket `images`.
fn store(images: &TempDir) -> (Serving, String) {
    let named = format!("images={}", images.path().display());
    let serving = Serving::start(&mut serve(&["--public"], &[&named]));
    let endpoint = format!("--endpoint=http://{}", serving.address("http://"));
    (serving, endpoint)
}

#[test]
#[ignore = "needs root and loop devices: make test runs it as root"]
fn images_in_a_local_directory_mount_and_have_the_files_they_were_made_of() {
    let images = images();
    check_all(images.path().to_str().unwrap(), &[], &images.path().join("tree"));
}

#[test]
#[ignore = "needs root and loop devices: make test runs it as root"]
fn images_in_a_store_mount_and_have_the_files_they_were_made_of() {
    let images = images();
    let (_serving, endpoint) = store(&images);
    check_all("s3://images", &["--anonymous", &endpoint], &images.path().join("tree"));
}

#[test]
#[ignore = "needs root and loop devices: make test runs it as root"]
fn a_replaced_image_fails_until_it_is_mounted_again() {
    let images = images();
    let (tree, (_serving, endpoint)) = (images.path().join("tree"), store(&images));
    // Nothing is read ahead, so the store is asked for each file. Names are always looked up.
    let options = ["--anonymous", &endpoint, "--policy", "none", "--metadata-ttl", "0ms"];
    let (mount, directory) = mount("s3://images", &options);
    let image = directory.path().join("squashfs");
    let looped = Looped::new(&image, "squashfs", &[]);
    fs::write(tree.join("a/large"), pattern(4_000_001, 3)).unwrap();
    fs::remove_file(images.path().join("squashfs")).unwrap();
    run(command(FILE_SYSTEMS[1].1[0], &FILE_SYSTEMS[1].1[1..]).current_dir(images.path()));
    let read = output(command("cat", &[]).arg(looped.directory.path().join("a/large")));
    assert!(String::from_utf8_lossy(&read.stderr).contains("Input/output error"), "{read:?}");
    drop(looped);
    check(&image, "squashfs", &[], &tree);
    let said = end(mount);
    assert!(said.contains("The object has another version"), "{said}");
}
