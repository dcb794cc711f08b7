//! An object that is replaced while it is read.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::time::Duration;

use super::support::{Mounted, pattern};

const ESTALE: i32 = 116;
const SIZE: usize = 8 << 20;
const HOUR: Duration = Duration::from_secs(3600);

/// Replaces `name` by another file, as programs do that write a new file and rename it.
fn replace(mounted: &Mounted, name: &str, bytes: &[u8]) {
    let source = mounted.source.path();
    fs::write(source.join("in the making"), bytes).unwrap();
    fs::rename(source.join("in the making"), source.join(name)).unwrap();
}

#[test]
fn an_old_handle_is_stale_and_a_new_one_reads_the_new_bytes() {
    let (old, new) = (pattern(SIZE, 1), pattern(SIZE, 2));
    let mounted = Mounted::new(Duration::ZERO, HOUR, |root| fs::write(root.join("file"), &old).unwrap());
    let before = File::open(mounted.at("file")).unwrap();
    let mut buffer = vec![0; 4096];
    before.read_exact_at(&mut buffer, 0).unwrap();
    assert_eq!(buffer, old[..4096]);

    replace(&mounted, "file", &new);

    // Cached pages stay readable; the others fail.
    let error = before.read_exact_at(&mut buffer, SIZE as u64 - 4096).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(ESTALE));
    before.read_exact_at(&mut buffer, 0).unwrap();
    assert_eq!(buffer, old[..4096]);
    let stale_inode = before.metadata().unwrap().ino();

    // The kernel remembers the old inode for an hour, but the open of it fails as stale: it looks the
    // name up again.
    let after = File::open(mounted.at("file")).unwrap();
    assert_ne!(after.metadata().unwrap().ino(), stale_inode);
    let mut all = vec![0; SIZE];
    after.read_exact_at(&mut all, 0).unwrap();
    assert!(all == new);
    assert_eq!(before.metadata().unwrap().ino(), stale_inode);
}

#[test]
fn a_stale_read_makes_the_next_open_look_again() {
    let (old, new) = (pattern(SIZE, 1), pattern(SIZE, 2));
    let mounted = Mounted::new(HOUR, HOUR, |root| fs::write(root.join("file"), &old).unwrap());
    let before = File::open(mounted.at("file")).unwrap();
    replace(&mounted, "file", &new);
    let error = before.read_exact_at(&mut [0; 4096], 0).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(ESTALE));
    assert!(fs::read(mounted.at("file")).unwrap() == new);
}

#[test]
fn no_read_of_a_file_that_is_replaced_again_and_again_mixes_versions() {
    const VERSIONS: u64 = 30;
    let versions: Vec<Vec<u8>> = (0..VERSIONS).map(|seed| pattern(1 << 20, seed)).collect();
    let mounted = Mounted::new(Duration::ZERO, Duration::ZERO, |root| {
        fs::write(root.join("file"), &versions[0]).unwrap()
    });
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| versions.iter().for_each(|bytes| replace(&mounted, "file", bytes)));
        let mut last_round = false;
        while !last_round {
            last_round = writer.is_finished();
            match fs::read(mounted.at("file")) {
                Ok(bytes) => assert!(versions.contains(&bytes), "{} bytes of no version", bytes.len()),
                Err(error) => assert_eq!(error.raw_os_error(), Some(ESTALE), "{error}"),
            }
        }
    });
    assert!(fs::read(mounted.at("file")).unwrap() == versions[VERSIONS as usize - 1]);
}

#[test]
fn a_removed_file_is_stale_on_open_handles_and_gone_for_new_opens() {
    let mounted = Mounted::new(Duration::ZERO, Duration::ZERO, |root| {
        fs::write(root.join("file"), pattern(SIZE, 1)).unwrap();
    });
    let file = File::open(mounted.at("file")).unwrap();
    fs::remove_file(mounted.source.path().join("file")).unwrap();
    let error = file.read_exact_at(&mut [0; 4096], 0).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(ESTALE));
    assert_eq!(file.metadata().unwrap().len(), SIZE as u64);
    assert_eq!(File::open(mounted.at("file")).unwrap_err().kind(), std::io::ErrorKind::NotFound);
}
