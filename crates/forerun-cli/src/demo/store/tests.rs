use std::time::Instant;

use super::*;
use crate::demo::data::Contents;
use crate::demo::http::{self, request};

/// A store without delays, which lives as long as the test's process.
fn store() -> (SocketAddr, Contents) {
    let contents = Contents::new(64 << 20);
    (serve(Bucket::Generated(contents.clone()), None), contents)
}

/// The address of a store of `bucket`.
fn serve(bucket: Bucket, attack: Option<Attack>) -> SocketAddr {
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let shape = Shape { latency: Duration::ZERO, ..Shape::default() };
            let store = Store::bind(bucket, shape, attack).unwrap();
            tell.send(store.address().unwrap()).unwrap();
            store.serve().await
        })
    });
    told.recv().unwrap()
}

fn get(address: SocketAddr, target: &str, headers: &str) -> http::HttpAnswer {
    request(address, "GET", target, headers).unwrap()
}

#[test]
fn objects_and_their_parts() {
    let (address, contents) = store();
    let object = contents.object("one.bin").unwrap();

    let head = request(address, "HEAD", "/demo/one.bin", "").unwrap();
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert!(head.head.contains("content-length: 67108864"), "{}", head.head);
    assert!(head.head.contains("last-modified: wed, 01 jan 2025"), "{}", head.head);

    let part = get(address, "/demo/one.bin", "range: bytes=2097000-2299999\r\n");
    assert_eq!((part.status, part.body.len()), (206, 203_000));
    assert!(part.head.contains("content-range: bytes 2097000-2299999/67108864"), "{}", part.head);
    assert!(contents.matches(object, 2_097_000, &part.body));

    let whole = get(address, "/demo/many/001.bin", "");
    assert_eq!((whole.status, whole.body.len()), (200, 1037));
    let beyond = get(address, "/demo/many/001.bin", "range: bytes=1037-\r\n");
    assert_eq!(beyond.status, 416);
    assert!(beyond.head.contains("content-range: bytes */1037"), "{}", beyond.head);
}

#[test]
fn files_below_a_directory_are_listed_and_read_like_generated_objects() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("weights")).unwrap();
    std::fs::write(directory.path().join("weights/a-1.bin"), "0123456789").unwrap();
    let address = serve(Bucket::of_directory(directory.path()).unwrap(), None);
    let part = get(address, "/demo/weights/a-1.bin", "range: bytes=3-5\r\n");
    assert_eq!((part.status, part.body.as_slice()), (206, b"345".as_slice()));
    let listed = get(address, "/demo?list-type=2&prefix=weights/", "");
    let xml = String::from_utf8(listed.body).unwrap();
    assert!(xml.contains("<Key>weights/a-1.bin</Key>") && xml.contains("<Size>10</Size>"), "{xml}");
    let counters = String::from_utf8(get(address, "/_counters", "").body).unwrap();
    assert!(counters.contains("\"weights/a-1.bin\": 3"), "{counters}");
}

#[test]
fn versions() {
    let (address, _) = store();
    let head = get(address, "/demo/many/001.bin", "").head;
    let (_, etag) = head.split_once("etag: ").unwrap();
    let etag = etag.lines().next().unwrap();
    for (headers, status) in [
        (format!("if-match: {etag}\r\n"), 200),
        ("if-match: *\r\n".to_owned(), 200),
        ("if-match: \"other\"\r\n".to_owned(), 412),
        (format!("if-none-match: {etag}\r\n"), 304),
    ] {
        assert_eq!(get(address, "/demo/many/001.bin", &headers).status, status, "{headers}");
    }
}

#[test]
fn missing_objects_and_buckets_are_not_found() {
    let (address, _) = store();
    let cases =
        [("/demo/absent", "NoSuchKey"), ("/demo/one.bin/x", "NoSuchKey"), ("/other/one.bin", "NoSuchBucket")];
    for (target, code) in cases {
        let answer = get(address, target, "");
        assert_eq!(answer.status, 404, "{target}");
        assert!(
            String::from_utf8(answer.body).unwrap().contains(&format!("<Code>{code}</Code>")),
            "{target}"
        );
    }
    assert_eq!(request(address, "PUT", "/demo/new", "").unwrap().status, 405);
    assert_eq!(get(address, "/", "").status, 404);
}

#[test]
fn listings() {
    let (address, _) = store();
    for target in ["/demo?list-type=2&delimiter=%2F", "/demo/?list-type=2&delimiter=%2F"] {
        let answer = get(address, target, "");
        let xml = String::from_utf8(answer.body).unwrap();
        assert_eq!(answer.status, 200);
        assert!(xml.contains("<KeyCount>8</KeyCount>") && xml.contains("<Key>one.bin</Key>"), "{xml}");
    }
}

#[test]
fn counters_and_the_shape_of_the_link() {
    let (address, _) = store();
    get(address, "/demo/many/000.bin", "");
    get(address, "/demo/many/000.bin", "range: bytes=0-9\r\n");
    let counters = String::from_utf8(get(address, "/_counters", "").body).unwrap();
    assert!(
        counters.contains("\"requests\": 2") && counters.contains("\"many/000.bin\": 1010"),
        "{counters}"
    );
    assert_eq!(request(address, "POST", "/_reset", "").unwrap().status, 200);
    let counters = String::from_utf8(get(address, "/_counters", "").body).unwrap();
    assert!(counters.contains("\"requests\": 0"), "{counters}");

    assert_eq!(request(address, "POST", "/_link?latency_ms=200&total_mb_s=10", "").unwrap().status, 200);
    assert_eq!(request(address, "POST", "/_link?latency=200", "").unwrap().status, 400);
    let asked = Instant::now();
    get(address, "/demo/many/000.bin", "");
    assert!(asked.elapsed() >= Duration::from_millis(190));
}

#[test]
fn an_attack_concerns_what_is_below_bad_alone() {
    let listing = "/demo?list-type=2&delimiter=%2F&prefix=bad%2F";
    for attack in [Attack::SamePage, Attack::Ampersands, Attack::CutBody] {
        let contents = Contents::new(64 << 20);
        let address = serve(Bucket::Generated(contents.clone()), Some(attack));
        let whole = get(address, "/demo/many/001.bin", "");
        assert!(contents.matches(contents.object("many/001.bin").unwrap(), 0, &whole.body));
        let root = get(address, "/demo?list-type=2&delimiter=%2F&prefix=", "").body;
        assert!(String::from_utf8(root).unwrap().contains("<Prefix>big/</Prefix>"));
        match attack {
            Attack::SamePage => {
                let page = get(address, listing, "").body;
                assert_eq!(page, get(address, &format!("{listing}&continuation-token=again"), "").body);
            }
            Attack::Ampersands => assert!(get(address, "/demo/bad/", "").body.len() > 1 << 20),
            _ => {
                let cut = get(address, "/demo/bad/file", "range: bytes=5-99\r\n");
                assert!(cut.head.contains("content-range: bytes 5-99/") && cut.head.contains("length: 95"));
                assert_eq!(cut.body, b"x");
            }
        }
    }
}
