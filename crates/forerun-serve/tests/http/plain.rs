//! Plain HTTP.

use forerun_serve::Limits;

use super::client::Reply;
use super::support::{MIB, Served, pattern};

#[test]
fn an_object_comes_whole_with_its_description() {
    let bytes = pattern(3 * MIB + 5, 1);
    let served = Served::new(&[("a/b.txt", bytes.clone())]);
    let reply = served.ask("GET /-/bucket/a/b.txt");
    assert_eq!((reply.status, reply.body == bytes), (200, true));
    assert_eq!(reply.header("content-length"), Some("3145733"));
    assert_eq!(reply.header("accept-ranges"), Some("bytes"));
    assert_eq!(reply.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(reply.header("etag"), Some("\"forerun-1\""));

    let head = served.ask("HEAD /-/bucket/a/b.txt");
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("content-length"), Some("3145733"));
    assert_eq!(head.header("etag"), reply.header("etag"));
}

#[test]
fn an_empty_object_is_an_empty_answer() {
    let served = Served::new(&[("empty", Vec::new())]);
    let reply = served.ask("GET /-/bucket/empty");
    assert_eq!((reply.status, reply.header("content-length"), reply.body.len()), (200, Some("0"), 0));
    assert_eq!(served.ask("GET /-/bucket/empty\nRange: bytes=0-").status, 416);
    let head = served.ask("HEAD /-/bucket/empty");
    assert_eq!((head.status, head.header("content-length")), (200, Some("0")));
}

#[test]
fn a_range_is_that_part() {
    let bytes = pattern(2 * MIB, 1);
    let served = Served::new(&[("a", bytes.clone())]);
    let reply = served.ask("GET /-/bucket/a\nRange: bytes=1000000-1999999");
    assert_eq!((reply.status, reply.header("content-range")), (206, Some("bytes 1000000-1999999/2097152")));
    assert!(reply.body == bytes[1_000_000..2_000_000]);
    let reply = served.ask("GET /-/bucket/a\nRange: bytes=-7");
    assert!(reply.status == 206 && reply.body == bytes[bytes.len() - 7..]);
    let reply = served.ask("GET /-/bucket/a\nRange: bytes=2097152-");
    assert_eq!((reply.status, reply.header("content-range")), (416, Some("bytes */2097152")));
}

#[test]
fn several_ranges_are_parts_of_one_answer() {
    let bytes = pattern(2 * MIB, 1);
    let served = Served::new(&[("a", bytes.clone())]);
    let reply = served.ask("GET /-/bucket/a\nRange: bytes=10-19, 1000000-1000004");
    assert_eq!(reply.status, 206);
    let media = reply.header("content-type").unwrap().to_owned();
    let boundary = media.strip_prefix("multipart/byteranges; boundary=").unwrap();
    let part = |range: &str, bytes: &[u8]| {
        let head = format!(
            "\r\n--{boundary}\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes {range}/2097152\r\n\r\n"
        );
        [head.into_bytes(), bytes.to_vec()].concat()
    };
    let expected = [
        part("10-19", &bytes[10..20]),
        part("1000000-1000004", &bytes[1_000_000..1_000_005]),
        format!("\r\n--{boundary}--\r\n").into_bytes(),
    ];
    assert!(reply.body == expected.concat());
    // Ranges that overlap bring each byte once, and those that touch are one. Others keep the order of the request.
    let reply = served.ask("GET /-/bucket/a\nRange: bytes=0-99,50-149,0-");
    assert!(reply.status == 206 && reply.body == bytes, "{}", reply.status);
    let reply = served.ask("GET /-/bucket/a\nRange: bytes=-5,200-299,100-199,3000000-");
    let parts: Vec<_> = parts_of(&reply).into_iter().map(|(range, bytes)| (range, bytes.to_vec())).collect();
    let part = |from: usize, to: usize| (format!("{from}-{to}/2097152"), bytes[from..=to].to_vec());
    assert!(parts == [part(2_097_147, 2_097_151), part(100, 299)]);
}

/// The parts of an answer that has several: what `Content-Range` says of each, and its bytes.
fn parts_of(reply: &Reply) -> Vec<(String, &[u8])> {
    let media = reply.header("content-type").unwrap();
    let boundary = format!("\r\n--{}", media.strip_prefix("multipart/byteranges; boundary=").unwrap());
    let mut rest = reply.body.strip_prefix(boundary.as_bytes()).expect("it begins with a boundary");
    let mut parts = Vec::new();
    while rest != b"--\r\n" {
        let end = rest.windows(4).position(|end| end == b"\r\n\r\n").unwrap();
        let head = str::from_utf8(&rest[..end]).unwrap();
        let range = head.split_once("Content-Range: bytes ").unwrap().1.lines().next().unwrap();
        let body = &rest[end + 4..];
        let len = body.windows(boundary.len()).position(|end| end == boundary.as_bytes()).unwrap();
        parts.push((range.to_owned(), &body[..len]));
        rest = &body[len + boundary.len()..];
    }
    parts
}

#[test]
fn as_many_as_64_ranges_are_answered() {
    let bytes = pattern(2 * MIB, 1);
    let served = Served::new(&[("a", bytes.clone())]);
    let ask = |count: usize| {
        let ranges: Vec<_> =
            (0..count).map(|part| format!("{}-{}", part * 9000, part * 9000 + part)).collect();
        served.ask(&format!("GET /-/bucket/a\nRange: bytes={}", ranges.join(",")))
    };
    let reply = ask(64);
    assert_eq!(reply.status, 206);
    let parts = parts_of(&reply);
    assert_eq!(parts.len(), 64);
    for (part, (range, found)) in parts.into_iter().enumerate() {
        let (from, to) = (part * 9000, part * 9000 + part);
        assert!(range == format!("{from}-{to}/2097152") && found == &bytes[from..=to], "{range}");
    }
    let refused = ask(65);
    assert_eq!((refused.status, refused.header("content-range")), (416, Some("bytes */2097152")));
}

#[test]
fn conditions_count() {
    let served = Served::new(&[("a", pattern(10, 1))]);
    for (header, status) in [
        ("If-None-Match: \"forerun-1\"", 304),
        ("If-None-Match: \"other\"", 200),
        ("If-Match: \"other\"", 412),
        ("If-Match: *", 200),
        ("Range: bytes=0-1\nIf-Range: \"other\"", 200),
        ("Range: bytes=0-1\nIf-Range: \"forerun-1\"", 206),
    ] {
        assert_eq!(served.ask(&format!("GET /-/bucket/a\n{header}")).status, status, "{header}");
    }
}

#[test]
fn directories_are_pages_with_links() {
    let served = Served::new(&[("d/a b&c", vec![1]), ("d/e/f", vec![1; 2])]);
    assert!(served.ask("GET /-/").text().contains("<a href=\"bucket/\">"));
    assert_eq!(served.ask("GET /-").header("location"), Some("/-/"));
    assert_eq!(served.ask("GET /-/bucket").header("location"), Some("/-/bucket/"));
    let moved = served.ask("GET /-/bucket/d");
    assert_eq!((moved.status, moved.header("location")), (308, Some("/-/bucket/d/")));
    let page = served.ask("GET /-/bucket/d/").text();
    assert!(
        page.contains("<a href=\"a%20b%26c\">a b&amp;c</a>") && page.contains("<a href=\"e/\">"),
        "{page}"
    );
    assert_eq!(served.ask("GET /-/bucket/d/a%20b%26c").body, [1]);
    assert_eq!(served.ask("HEAD /-/bucket/d/").body.len(), 0);
}

#[test]
fn only_those_with_a_password_or_a_token_read() {
    let limits = Limits::default();
    let served = Served::with(&[("a", vec![7])], "basic ann password\nbearer t0k\n", limits);
    let refused = served.ask("GET /-/bucket/a");
    assert_eq!((refused.status, refused.header("www-authenticate")), (401, Some("Basic realm=\"forerun\"")));
    assert_eq!(served.ask("GET /-/\nAuthorization: Bearer t0").status, 401);
    assert_eq!(served.ask("GET /-/bucket/a\nAuthorization: Bearer t0k").body, [7]);
    assert_eq!(served.ask("GET /-/bucket/a\nAuthorization: Basic YW5uOnBhc3N3b3Jk").body, [7]);
}

#[test]
fn an_object_that_changes_is_sent_in_its_new_version() {
    let (old, new) = (pattern(2 * MIB, 1), pattern(3 * MIB, 2));
    let served = Served::new(&[("a", old.clone())]);
    assert!(served.ask("GET /-/bucket/a\nRange: bytes=0-9").body == old[..10]);
    served.storage.objects.replace("a", new.clone());
    let reply = served.ask("GET /-/bucket/a\nRange: bytes=1500000-");
    assert!(reply.status == 206 && reply.body == new[1_500_000..], "{}", reply.status);
    assert_eq!(reply.header("etag"), Some("\"forerun-2\""));
    assert!(served.ask("GET /-/bucket/a").body == new);
}
