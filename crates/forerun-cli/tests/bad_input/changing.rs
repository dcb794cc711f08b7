//! An object that changes while it is read.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use crate::site::Site;
use crate::support::{Mounted, Store, mount, pattern};

const ESTALE: i32 = 116;
const SIZE: usize = 8 << 20;

/// Checks what a reader of `file` sees whom its change overtakes, and who opens
/// it then. `put` changes what is stored.
fn check_change(mounted: Mounted, put: impl FnOnce(&[u8]), new: &[u8]) {
    let old = pattern(SIZE, 1);
    let reader = File::open(mounted.at("file")).unwrap();
    let mut buffer = vec![0; 100_000];
    reader.read_exact_at(&mut buffer, 0).unwrap();
    assert!(buffer == old[..buffer.len()]);

    put(new);

    let mut offset = buffer.len();
    let error = loop {
        match reader.read_at(&mut buffer, offset as u64) {
            Ok(0) => panic!("read to {offset} as if nothing had happened"),
            Ok(count) => {
                assert!(buffer[..count] == old[offset..offset + count], "at {offset}");
                offset += count;
            }
            Err(error) => break error,
        }
    };
    assert_eq!(error.raw_os_error(), Some(ESTALE), "{error}");
    assert!(fs::read(mounted.at("file")).unwrap() == new, "a new open reads something else");
    // The old handle does not turn into the new version.
    let error = reader.read_at(&mut buffer, (SIZE - 100_000) as u64).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(ESTALE), "{error}");

    drop(reader);
    let log = mounted.end();
    for words in ["file", "changed", "open it again"] {
        assert!(log.contains(words), "no {words:?} in {log}");
    }
}

/// Replaced by as many other bytes; by fewer; by more of the same.
fn changes() -> [Vec<u8>; 3] {
    [pattern(SIZE, 2), pattern(SIZE / 2, 1), pattern(2 * SIZE, 1)]
}

/// Readahead could fetch all of the file.
const NO_READAHEAD: [&str; 2] = ["--policy", "none"];

#[test]
fn on_a_web_server() {
    for new in changes() {
        let site = Site::start(&pattern(SIZE, 1));
        let mounted = Mounted::start(mount(&[&NO_READAHEAD[..], &[&site.url("")]].concat()));
        check_change(mounted, |bytes| site.put("file", bytes.to_vec()), &new);
    }
}

#[test]
fn in_a_bucket() {
    for new in changes() {
        let store = Store::start();
        fs::write(store.at("file"), pattern(SIZE, 1)).unwrap();
        let mut command = store.mount("s3://bucket");
        // Before the directory, which is added last.
        command.args(NO_READAHEAD);
        check_change(Mounted::start(command), |bytes| fs::write(store.at("file"), bytes).unwrap(), &new);
    }
}

#[test]
fn in_a_directory() {
    for new in changes() {
        let source = tempfile::tempdir().unwrap();
        let file = source.path().join("file");
        fs::write(&file, pattern(SIZE, 1)).unwrap();
        let source = source.path().to_str().unwrap();
        let mounted = Mounted::start(mount(&[&NO_READAHEAD[..], &[source]].concat()));
        check_change(mounted, |bytes| fs::write(&file, bytes).unwrap(), &new);
    }
}
