//! Servers of several nodes that read through one cache, which is nginx.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use tempfile::TempDir;

use super::bytes::pattern;
use super::nginx::Nginx;
use super::serve::{address, get, named, serve};
use super::serving::Serving;
use super::support::DEADLINE;

const CONFIGURATION: &str = include_str!("../../programs/cache.conf");
const SLICE: usize = 64 << 10;
/// The last slice is short.
const SIZE: usize = 80 * SLICE + 123;

/// An origin with a directory of files, and a cache in front of it.
struct Site {
    folder: TempDir,
    origin: Serving,
    cache: Nginx,
}

/// The ways in which a node reads from the cache.
#[derive(Clone, Copy, Debug)]
enum Way {
    S3,
    Http,
}

impl Way {
    /// The path of a file at the origin and at the cache.
    fn path_of(self, name: &str) -> String {
        match self {
            Way::S3 => format!("/data/{name}"),
            Way::Http => format!("/-/data/{name}"),
        }
    }
}

impl Site {
    fn start() -> Site {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("data")).unwrap();
        let log = folder.path().join("log");
        let data = named("data", &folder.path().join("data"));
        let origin = Serving::start(&mut serve(&["--access-log", log.to_str().unwrap()], &[&data]));
        let origin_address = address(&origin);
        let cache = Nginx::configured(|listen| {
            CONFIGURATION.replace("@ORIGIN@", &origin_address).replace("@LISTEN@", listen)
        });
        Site { folder, origin, cache }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join("data").join(name)
    }

    /// A server that reads through the cache.
    fn node(&self, way: Way) -> Serving {
        let endpoint = format!("http://{}", self.cache.address());
        Serving::start(&mut match way {
            Way::S3 => {
                serve(&["--anonymous", "--region", "us-east-1", "--endpoint", &endpoint], &["copy=s3://data"])
            }
            Way::Http => serve(&[], &[&format!("copy={endpoint}/-/data/")]),
        })
    }

    /// Ends the origin: the bytes of `path` that it sent as answers to GET.
    fn bytes_sent(self, path: &str) -> u64 {
        assert_eq!(self.origin.end().0, Some(0));
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap();
        let gets = log.lines().filter(|line| line.contains(&format!("\"GET {path} ")));
        // Behind the request are its status, the bytes and the milliseconds.
        let figures = gets.map(|line| line.rsplit('"').next().unwrap());
        figures.map(|figures| figures.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()).sum()
    }

    /// Replaces `big.bin`, and waits until the origin tells of that at `path`.
    fn replace(&self, path: &str, bytes: &[u8]) {
        let origin = address(&self.origin);
        let old = etag(&origin, path);
        fs::write(self.file("new.bin"), bytes).unwrap();
        fs::rename(self.file("new.bin"), self.file("big.bin")).unwrap();
        let start = Instant::now();
        while etag(&origin, path) == old {
            assert!(start.elapsed() < DEADLINE, "the origin does not notice the change");
        }
    }
}

/// The version of `path` at `address`.
fn etag(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "HEAD {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let header = answer.lines().find(|line| line.to_ascii_lowercase().starts_with("etag:"));
    header.unwrap().split_once(": ").unwrap().1.to_owned()
}

#[test]
fn the_origin_sends_each_byte_once_to_all_nodes() {
    for way in [Way::S3, Way::Http] {
        let site = Site::start();
        let bytes = pattern(SIZE, 1);
        fs::write(site.file("big.bin"), &bytes).unwrap();
        fs::write(site.file("empty.bin"), "").unwrap();
        let nodes = [site.node(way), site.node(way)];
        thread::scope(|scope| {
            let read = |node| scope.spawn(move || get(&address(node), "/copy/big.bin", "").1);
            let found = nodes.each_ref().map(read).map(|reader| reader.join().unwrap());
            assert!(found.iter().all(|found| *found == bytes), "{way:?}");
        });
        let late = site.node(way);
        let at_late = address(&late);
        let middle = "Range: bytes=1048000-3333333\r\n";
        assert!(get(&at_late, "/copy/big.bin", middle).1 == bytes[1_048_000..=3_333_333], "{way:?}");
        assert!(get(&at_late, "/copy/big.bin", "").1 == bytes, "{way:?}");
        assert_eq!(get(&at_late, "/copy/empty.bin", "").1, b"", "{way:?}");
        assert!(get(&at_late, "/copy/absent.bin", "").0.contains("404"), "{way:?}");
        let list = String::from_utf8(get(&at_late, "/copy?list-type=2", "").1).unwrap();
        assert!(list.contains("<Key>big.bin</Key>") && list.contains("<Key>empty.bin</Key>"), "{list}");
        assert_eq!(site.bytes_sent(&way.path_of("big.bin")), SIZE as u64, "{way:?}");
    }
}

#[test]
fn the_cache_never_mixes_two_versions() {
    let site = Site::start();
    let (old, new) = (pattern(SIZE, 1), pattern(SIZE, 2));
    fs::write(site.file("big.bin"), &new).unwrap();
    for way in [Way::S3, Way::Http] {
        site.replace(&way.path_of("big.bin"), &old);
        let (cache, path) = (site.cache.address(), way.path_of("big.bin"));
        let version = etag(cache, &path);
        let first = format!("If-Match: {version}\r\nRange: bytes=0-65535\r\n");
        assert!(get(cache, &path, &first).1 == old[..SLICE], "{way:?}");

        site.replace(&path, &new);
        // Its first slice is in the cache. No other can be had any more.
        let cut = get(cache, &path, &format!("If-Match: {version}\r\n"));
        assert!(cut.0.contains("200") && cut.1 == old[..SLICE], "{way:?}: {} bytes", cut.1.len());
        let second = format!("If-Match: {version}\r\nRange: bytes=65536-131071\r\n");
        assert!(get(cache, &path, &second).0.contains("412"), "{way:?}");
        let version = etag(cache, &path);
        assert!(get(cache, &path, &format!("If-Match: {version}\r\n")).1 == new, "{way:?}");
        assert!(get(cache, &path, "").1 == new, "{way:?}");
    }
}

#[test]
fn nodes_read_the_new_version_after_a_change() {
    let site = Site::start();
    // More than the memory of a node, so that it cannot have read all of it ahead.
    let [old, new] = [1, 2].map(|seed| pattern(320 * SLICE, seed));
    fs::write(site.file("big.bin"), &new).unwrap();
    for way in [Way::S3, Way::Http] {
        let path = way.path_of("big.bin");
        site.replace(&path, &old);
        let node = site.node(way);
        let at_node = address(&node);
        assert!(get(&at_node, "/copy/big.bin", "Range: bytes=0-99999\r\n").1 == old[..100_000], "{way:?}");
        site.replace(&path, &new);

        let other = site.node(way);
        assert!(get(&address(&other), "/copy/big.bin", "").1 == new, "{way:?}");
        let start = Instant::now();
        loop {
            let (status, body) = get(&at_node, "/copy/big.bin", "");
            if status.contains("200") && body == new {
                break;
            }
            let is_of_one = old.starts_with(&body) || new.starts_with(&body);
            assert!(is_of_one || !status.contains("200"), "{way:?}: {status}, {} bytes", body.len());
            assert!(start.elapsed() < DEADLINE, "{way:?}: the node does not notice the change");
        }
    }
}
