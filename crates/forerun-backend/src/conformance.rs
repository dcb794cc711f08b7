//! The contract of backends and layers, as a check that tests call.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt;

use crate::{Backend, Entry, ErrorKind, Kind, Result, Version};

/// A tree of difficult cases: nested directories, an empty object, names that URLs must encode, and
/// objects larger than one piece.
pub fn sample_tree() -> Vec<(String, Bytes)> {
    let large: Bytes = (0..3_000_017_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 23) as u8).collect();
    let objects: [(&str, Bytes); 12] = [
        ("readme.txt", Bytes::from_static(b"hello, reader\n")),
        ("large.bin", large.clone()),
        ("empty", Bytes::new()),
        ("one", Bytes::from_static(b"1")),
        ("a/nested/tree/leaf", large.slice(..70_000)),
        ("a/nested/other", Bytes::from_static(b"other")),
        ("a/b", Bytes::from_static(b"b")),
        ("a-sibling", Bytes::from_static(b"sorts between a and a/")),
        ("with space/a b.txt", Bytes::from_static(b"space")),
        ("100%/%41+%2F.txt", Bytes::from_static(b"percent")),
        ("plus+and#hash?query&amp;.txt", Bytes::from_static(b"reserved")),
        ("größe/日本語 ☃.txt", Bytes::from_static(b"unicode")),
    ];
    objects.into_iter().map(|(path, bytes)| (path.to_owned(), bytes)).collect()
}

/// Checks that `backend` serves exactly `tree` (path and bytes of every object), as [`Backend`]
/// documents it.
///
/// # Panics
/// At the first difference, with a description of it.
pub async fn check(backend: Arc<dyn Backend>, tree: &[(String, Bytes)]) {
    check_listings(&*backend, tree).await;
    for (path, bytes) in tree {
        check_object(&*backend, path, bytes).await;
    }
    check_missing(&*backend, tree).await;
    check_concurrent(&backend, tree).await;
}

/// Fetches all of `extent` of the object `entry`.
///
/// # Errors
/// As the fetch or its stream.
pub async fn fetch(backend: &dyn Backend, entry: &Entry, extent: Range<u64>) -> Result<Vec<u8>> {
    let mut stream = backend.fetch(&entry.path, &entry.version, extent).await?;
    let mut bytes = Vec::new();
    while let Some(piece) = stream.try_next().await? {
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

async fn check_listings(backend: &dyn Backend, tree: &[(String, Bytes)]) {
    for (directory, children) in directories(tree) {
        let entry =
            backend.stat(&directory).await.unwrap_or_else(|error| panic!("stat {directory:?}: {error}"));
        assert_eq!((entry.kind, &entry.path), (Kind::Directory, &directory), "stat of a directory");
        let listed =
            backend.list(&directory).await.unwrap_or_else(|error| panic!("list {directory:?}: {error}"));
        let within = |entries_max| backend.list_within(&directory, entries_max);
        assert_eq!(within(listed.len()).await.unwrap().as_ref(), Some(&listed), "all of {directory:?}");
        if let Some(fewer) = listed.len().checked_sub(1) {
            assert_eq!(within(fewer).await.unwrap(), None, "{directory:?} holds more than {fewer} entries");
        }
        let paths: BTreeSet<String> = listed.iter().map(|entry| entry.path.clone()).collect();
        assert_eq!(paths.len(), listed.len(), "the listing of {directory:?} names something twice");
        assert_eq!(paths, children, "the listing of {directory:?}");
        for listed in listed {
            let entry = backend.stat(&listed.path).await.unwrap();
            assert_eq!((listed.kind, listed.size), (entry.kind, entry.size), "{:?} as listed", entry.path);
            // A stat may give the version in another form, which must serve as well.
            if entry.size > 0 {
                let last = fetch(backend, &listed, entry.size - 1..entry.size).await;
                last.unwrap_or_else(|error| panic!("fetch {:?} as listed: {error}", entry.path));
            }
        }
    }
}

/// Every directory of `tree`, with the paths it holds.
fn directories(tree: &[(String, Bytes)]) -> BTreeMap<String, BTreeSet<String>> {
    let mut directories = BTreeMap::from([(String::new(), BTreeSet::new())]);
    for (path, _) in tree {
        let mut child = path.as_str();
        while !child.is_empty() {
            let parent = child.rsplit_once('/').map_or("", |(parent, _)| parent);
            directories.entry(parent.to_owned()).or_default().insert(child.to_owned());
            child = parent;
        }
    }
    directories
}

async fn check_object(backend: &dyn Backend, path: &str, bytes: &Bytes) {
    let entry = backend.stat(path).await.unwrap_or_else(|error| panic!("stat {path:?}: {error}"));
    let size = bytes.len() as u64;
    assert_eq!((entry.kind, entry.size, entry.path.as_str()), (Kind::File, size, path));
    for extent in extents(size) {
        let range = extent.start as usize..extent.end as usize;
        let read = fetch(backend, &entry, extent.clone()).await;
        let read = read.unwrap_or_else(|error| panic!("fetch {path:?} {extent:?}: {error}"));
        assert!(read == bytes[range], "fetch {path:?} {extent:?}: wrong bytes");
    }
    assert_eq!(backend.list(path).await.unwrap_err().kind, ErrorKind::NotADirectory, "list of file {path:?}");
    assert!(backend.read_link(path).await.is_err(), "read_link of file {path:?}");
    let below = format!("{path}/below");
    assert_eq!(backend.stat(&below).await.unwrap_err().kind, ErrorKind::NotFound, "{below:?}");
    if size > 0 {
        let other = Entry { version: Version("another version".into()), ..entry.clone() };
        let error = fetch(backend, &other, 0..size).await.expect_err("a fetch of another version");
        assert_eq!(error.kind, ErrorKind::Changed, "{path:?}: {error}");
    }
    check_local(backend, &entry, bytes).await;
}

/// Checks the object as a file of this system, if there is one.
async fn check_local(backend: &dyn Backend, entry: &Entry, bytes: &Bytes) {
    let path = &entry.path;
    let local = backend.open_local(path, &entry.version).await;
    let Some(mut file) = local.unwrap_or_else(|error| panic!("open {path:?}: {error}")) else { return };
    let mut read = Vec::new();
    file.read_to_end(&mut read).unwrap_or_else(|error| panic!("read {path:?} as a file: {error}"));
    assert!(read == *bytes, "{path:?} as a file: wrong bytes");
    let error = backend.open_local(path, &Version("another version".into())).await;
    assert_eq!(error.expect_err("another version as a file").kind, ErrorKind::Changed, "{path:?}");
}

/// First, last and single bytes, the whole, and extents across every boundary at which a backend
/// might cut.
fn extents(size: u64) -> Vec<Range<u64>> {
    const BOUNDARIES: [u64; 5] = [1, 4096, 64 << 10, 1 << 20, 2 << 20];
    let mut extents = vec![0..1, size.saturating_sub(1)..size, 0..size, size / 2..size, size / 3..size / 2];
    for boundary in BOUNDARIES {
        extents.push(boundary.saturating_sub(1)..boundary + 1);
        extents.push(boundary..boundary + boundary / 2 + 1);
    }
    extents.retain(|extent| extent.start < extent.end && extent.end <= size);
    extents
}

async fn check_missing(backend: &dyn Backend, tree: &[(String, Bytes)]) {
    for path in ["no-such-object", "no/such/object", "a/nothing"] {
        assert_eq!(backend.stat(path).await.unwrap_err().kind, ErrorKind::NotFound, "stat {path:?}");
        assert_eq!(backend.list(path).await.unwrap_err().kind, ErrorKind::NotFound, "list {path:?}");
        let version = Version("1".into());
        let fetched = backend.fetch(path, &version, 0..1).await;
        assert_eq!(fetched.map(|_| ()).unwrap_err().kind, ErrorKind::NotFound, "fetch {path:?}");
    }
    // A prefix of a name is not a name.
    for (path, _) in tree {
        let cut = path.char_indices().last().map_or("", |(at, _)| &path[..at]);
        let known = cut.is_empty() || cut.ends_with('/') || directories(tree).contains_key(cut);
        if !known && !tree.iter().any(|(path, _)| path == cut) {
            assert_eq!(backend.stat(cut).await.unwrap_err().kind, ErrorKind::NotFound, "stat {cut:?}");
        }
    }
}

/// Many concurrent fetches, of the same and of different objects.
async fn check_concurrent(backend: &Arc<dyn Backend>, tree: &[(String, Bytes)]) {
    let mut fetches = Vec::new();
    for (path, bytes) in tree.iter().filter(|(_, bytes)| !bytes.is_empty()) {
        let entry = backend.stat(path).await.unwrap();
        for part in 0..4 {
            let size = bytes.len() as u64;
            let extent = size * part / 4..(size * (part + 1) / 4).max(size * part / 4 + 1).min(size);
            let (backend, entry, bytes) = (backend.clone(), entry.clone(), bytes.clone());
            fetches.push(async move {
                let read = fetch(&*backend, &entry, extent.clone()).await.unwrap();
                assert!(
                    read == bytes[extent.start as usize..extent.end as usize],
                    "{:?} {extent:?}",
                    entry.path
                );
            });
        }
    }
    futures::future::join_all(fetches).await;
}
