//! Images of `forerun nbd`.

use super::super::maker::{Cluster, Maker};
use super::*;

/// A folder with the image `top`, the disk of which has bytes of `base`.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let clusters = vec![Cluster::Unallocated, Cluster::Data(vec![2; 4096]), Cluster::Zero];
    fs::write(folder.path().join("top"), Maker::new(12, clusters).over("base", "raw").made()).unwrap();
    fs::write(folder.path().join("base"), vec![1; 12288]).unwrap();
    folder
}

fn nbd(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = forerun();
    command.current_dir(folder).args(["nbd", "--unix", "nbd", "--memory", "16MiB"]).args(arguments);
    command
}

#[test]
fn an_image_and_its_backing_file_are_one_disk() {
    let folder = folder();
    let images = ["--format", "qcow2", "--backing", ".", "top"];
    let serving = Serving::start(&mut nbd(folder.path(), &images));
    let mut client = Client::unix(&folder.path().join("nbd"));
    assert_eq!(client.go("top").0, 12288);
    assert_eq!(client.read(0, 12288).unwrap(), [vec![1; 4096], vec![2; 4096], vec![0; 4096]].concat());
    drop(client);
    assert_eq!(serving.end().0, Some(0));
    // Without the option nobody looks for an image.
    let _serving = Serving::start(&mut nbd(folder.path(), &["top"]));
    let mut client = Client::unix(&folder.path().join("nbd"));
    let whole = fs::read(folder.path().join("top")).unwrap();
    assert_eq!(client.go("top").0, whole.len() as u64);
    assert!(client.read(0, whole.len() as u32).unwrap() == whole);
}

#[test]
fn what_cannot_be_served_is_told_at_the_start() {
    let folder = folder();
    for (arguments, why) in [
        (&["--format", "qcow2", "top"][..], "give the directory of that by --backing"),
        (&["--format", "qcow2", "base"], "--format raw"),
        (&["--format", "qcow2", "--backing", "base", "top"], "name its directory"),
        (&["--format", "qcow2", "--writable", "top"], "--overlay"),
        (&["--backing", ".", "top"], "--format qcow2"),
    ] {
        let done = output(&mut nbd(folder.path(), arguments));
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.code() == Some(1) && said.contains(why), "{why}: {said}");
    }
}
