//! File handles over time.

use nfs3_types::nfs3::*;

use super::support::{MIB, Served, pattern};

/// Paths that a handle has, that it has hashes of, and that are deeper than it has room for.
fn paths() -> [String; 4] {
    [
        "a".to_owned(),
        format!("directory/{}", "long".repeat(20)),
        format!("{}/file", ["component"; 12].join("/")),
        format!("{}/file", ["d"; 40].join("/")),
    ]
}

#[test]
fn handles_are_valid_after_a_restart() {
    let bytes = pattern(5000, 1);
    let paths = paths();
    let objects: Vec<_> = paths.iter().map(|path| (path.as_str(), bytes.clone())).collect();
    let served = Served::new(&objects);
    let mut client = served.connect();
    let mut handles: Vec<_> = paths.iter().map(|path| client.open(path)).collect();
    handles.push(client.mount(&format!("/data/{}", ["component"; 12].join("/"))));
    assert!(handles.iter().all(|handle| handle.data.len() <= 64));
    let numbers: Vec<_> = handles.iter().map(|handle| client.attributes(handle).unwrap().fileid).collect();
    let served = served.restart();
    let mut client = served.connect();
    for (index, (handle, number)) in handles.iter().zip(numbers).enumerate() {
        if index == 3 {
            // Too deep: it has to be looked up again.
            assert_eq!(client.attributes(handle).unwrap_err(), nfsstat3::NFS3ERR_STALE);
            assert_eq!(client.open(&paths[3]), *handle);
        }
        assert_eq!(client.attributes(handle).unwrap().fileid, number);
        let read = client.read(handle, 0, 5000);
        assert!(if index < 4 {
            read.unwrap() == bytes
        } else {
            read.unwrap_err() == nfsstat3::NFS3ERR_ISDIR
        });
    }
}

#[test]
fn a_handle_of_an_object_that_changed_is_stale_and_mixes_no_versions() {
    let [first, second] = [1, 2].map(|seed| pattern(4 * MIB, seed));
    let served = Served::new(&[("a", first.clone()), ("gone", first.clone())]);
    let mut client = served.connect();
    let (old, gone) = (client.open("a"), client.open("gone"));
    assert!(client.read(&old, 0, 4096).unwrap() == first[..4096]);
    served.storage.objects.replace("a", second.clone());
    served.storage.objects.remove("gone");
    assert_eq!(client.attributes(&old).unwrap_err(), nfsstat3::NFS3ERR_STALE);
    assert_eq!(client.attributes(&gone).unwrap_err(), nfsstat3::NFS3ERR_STALE);
    assert_eq!(client.read(&gone, 0, 1).unwrap_err(), nfsstat3::NFS3ERR_STALE);
    let new = client.open("a");
    assert_ne!(new, old);
    for offset in (0..4 * MIB).step_by(256 << 10) {
        match client.read(&old, offset as u64, 256 << 10) {
            Ok(bytes) => assert!(bytes == first[offset..offset + (256 << 10)], "{offset}"),
            Err(status) => assert_eq!(status, nfsstat3::NFS3ERR_STALE),
        }
        assert!(client.read(&new, offset as u64, 256 << 10).unwrap() == second[offset..offset + (256 << 10)]);
    }
    assert_eq!(client.read(&old, 3 * MIB as u64, 1).unwrap_err(), nfsstat3::NFS3ERR_STALE);
}

#[test]
fn handles_that_this_server_never_gave_are_stale() {
    let served = Served::new(&[("a", pattern(10, 1))]);
    let mut client = served.connect();
    let good = client.open("a").data.to_vec();
    let mut other_export = good.clone();
    other_export[3] ^= 1;
    let mut other_path = good.clone();
    *other_path.last_mut().unwrap() = b'b';
    let up = [&good[..17], b"../a"].concat();
    let hashes = [&[2][..], &good[1..17], &[1], &[7; 16], &[9; 4]].concat();
    for bytes in
        [vec![], vec![0; 64], vec![0xFF; 32], good[..10].to_vec(), other_export, other_path, up, hashes]
    {
        let handle = nfs_fh3 { data: bytes.into() };
        assert_eq!(client.attributes(&handle).unwrap_err(), nfsstat3::NFS3ERR_STALE, "{handle:?}");
        assert_eq!(client.read(&handle, 0, 1).unwrap_err(), nfsstat3::NFS3ERR_STALE);
    }
}
