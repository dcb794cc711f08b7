//! Block status.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use forerun::{Forerun, Options};

use super::client::*;
use super::numbers::*;
use super::support::{MIB, Served, pattern};

/// Asks for the states of the bytes: length and state each.
pub(crate) fn states(client: &mut Client, flags: u16, offset: u64, len: u32) -> Vec<(u32, u32)> {
    let cookie = client.request(BLOCK_STATUS, flags, offset, len);
    let Message::Chunk { is_done: true, kind: 5, cookie: answered, payload } = client.message() else {
        panic!("no block status")
    };
    assert_eq!((answered, &payload[..4]), (cookie, &1_u32.to_be_bytes()[..]));
    let word = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().unwrap());
    payload[4..].chunks(8).map(|extent| (word(&extent[..4]), word(&extent[4..]))).collect()
}

/// Connects, and chooses the export `name` with block status.
pub(crate) fn open(served: &Served, name: &str) -> Client {
    let mut client = Client::unix(&served.socket).structured();
    assert_eq!(client.option(SET_META_CONTEXT, &queries(name, &["base:allocation"])).1, ACK);
    client.go(name);
    client
}

#[test]
fn objects_of_stores_have_no_holes() {
    let served = Served::new(&[("a", vec![0; 3 * MIB])]);
    let mut client = open(&served, "a");
    assert_eq!(states(&mut client, 0, 5, 2 << 20), [(2 << 20, 0)]);
    for (offset, len) in [(3 << 20, 1), ((3 << 20) - 1, 2), (u64::MAX, 1), (0, u32::MAX), (0, 0)] {
        let cookie = client.request(BLOCK_STATUS, 0, offset, len);
        assert_eq!(client.outcome(cookie), EINVAL, "{offset} {len}");
    }
    assert_eq!(states(&mut client, 0, (3 << 20) - 1, 1), [(1, 0)]);
}

#[test]
fn holes_of_local_files_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("sparse")).unwrap();
    file.set_len(4 << 20).unwrap();
    file.write_all_at(&pattern(MIB, 1), 1 << 20).unwrap();
    file.sync_all().unwrap();
    let options = Options::default().with_memory_bytes(16 << 20).with_metadata_ttl(std::time::Duration::ZERO);
    let forerun = Forerun::connect_blocking(folder.path().to_str().unwrap(), options).unwrap();
    let served = Served::over(Arc::clone(&Served::new(&[]).storage), forerun);
    let mut client = open(&served, "sparse");
    assert_eq!(states(&mut client, 0, 0, 4 << 20), [(1 << 20, 3), (1 << 20, 0), (2 << 20, 3)]);
    assert_eq!(states(&mut client, FLAG_ONE, 0, 4 << 20), [(1 << 20, 3)]);
    assert_eq!(states(&mut client, 0, (2 << 20) - 1, 3), [(1, 0), (2, 3)]);
    assert!(client.read(1 << 20, 1 << 20).unwrap() == pattern(MIB, 1));

    // Where there was a hole, there may be bytes by now.
    file.write_all_at(&[1], 0).unwrap();
    let cookie = client.request(BLOCK_STATUS, 0, 0, 4 << 20);
    assert_eq!(client.outcome(cookie), ESHUTDOWN);
}
