//! Ranges, conditions and refusals, as the documentation of S3 has them.

use super::s3::texts;
use super::support::{Served, pattern};

fn served() -> Served {
    Served::new(&[("a", pattern(10, 1)), ("empty", vec![]), ("dated", vec![7; 10]), ("d/e", vec![1])])
}

#[test]
fn a_range_is_that_part_and_one_that_makes_no_sense_is_ignored() {
    let (served, bytes) = (served(), pattern(10, 1));
    let many = format!("bytes={}", ["0-0"; 65].join(","));
    for (range, status, part) in [
        ("bytes=0-0", 206, 0..1),
        ("bytes=4-7", 206, 4..8),
        ("bytes=4-", 206, 4..10),
        ("bytes=-7", 206, 3..10),
        ("bytes=-70", 206, 0..10),
        ("bytes=0-99", 206, 0..10),
        ("bytes=9-99999999999999999999", 206, 9..10),
        ("Bytes=1-2", 206, 1..3),
        ("bytes=5-4", 200, 0..10),
        ("bytes=a-b", 200, 0..10),
        ("bytes", 200, 0..10),
        ("lines=0-1", 200, 0..10),
        // S3 has no answers of several parts.
        ("bytes=0-1,5-6", 200, 0..10),
        ("bytes=0-1,1-2", 200, 0..10),
        ("bytes=40-50,60-70", 200, 0..10),
        (many.as_str(), 200, 0..10),
    ] {
        let reply = served.ask(&format!("GET /bucket/a\nRange: {range}"));
        assert_eq!((reply.status, &reply.body[..]), (status, &bytes[part.clone()]), "{range}");
        let expected = format!("bytes {}-{}/10", part.start, part.end - 1);
        let expected = Some(expected.as_str()).filter(|_| status == 206);
        assert_eq!(reply.header("content-range"), expected, "{range}");
        let head = served.ask(&format!("HEAD /bucket/a\nRange: {range}"));
        let len = part.len().to_string();
        assert_eq!((head.status, head.header("content-length")), (status, Some(len.as_str())), "{range}");
    }
    for request in [
        "GET /bucket/a\nRange: bytes=10-",
        "GET /bucket/a\nRange: bytes=40-50",
        "GET /bucket/a\nRange: bytes=-0",
        "GET /bucket/empty\nRange: bytes=0-",
        "GET /bucket/empty\nRange: bytes=-1",
    ] {
        let reply = served.ask(request);
        assert_eq!(
            (reply.status, texts(&reply, "Code")),
            (416, vec!["InvalidRange".to_owned()]),
            "{request}"
        );
    }
    let whole = served.ask("GET /bucket/empty");
    assert_eq!((whole.status, whole.header("content-length")), (200, Some("0")));
    let head = served.ask("HEAD /bucket/empty");
    assert_eq!((head.status, head.header("content-length")), (200, Some("0")));
    assert_eq!((head.header("etag"), head.header("content-range")), (whole.header("etag"), None));
    assert_eq!(served.ask("GET /bucket/empty?partNumber=1").status, 200);
    assert_eq!(served.ask("GET /bucket/a?partNumber=1\nRange: bytes=0-1").status, 400);
}

#[test]
fn a_request_may_say_headers_of_its_answer() {
    let served = served();
    let query = "response-cache-control=no-store&response-content-disposition=inline&response-content-encoding=gzip\
                 &response-content-language=de-AT&response-content-type=text%2Fcsv\
                 &response-expires=Mon%2C%2012%20Jan%201970%2013%3A46%3A40%20GMT";
    for method in ["GET", "HEAD"] {
        let reply = served.ask(&format!("{method} /bucket/a?{query}"));
        assert_eq!(reply.status, 200, "{method}: {}", reply.text());
        for (name, value) in [
            ("cache-control", "no-store"),
            ("content-disposition", "inline"),
            ("content-encoding", "gzip"),
            ("content-language", "de-AT"),
            ("content-type", "text/csv"),
            ("expires", "Mon, 12 Jan 1970 13:46:40 GMT"),
        ] {
            assert_eq!(reply.header(name), Some(value), "{method} {name}");
        }
        let plain = served.ask(&format!("{method} /bucket/a"));
        assert_eq!((plain.header("expires"), plain.header("content-encoding")), (None, None), "{method}");
    }
}

#[test]
fn conditions_decide_about_an_answer() {
    let served = served();
    let (old, same, new) =
        ("Mon, 12 Jan 1970 13:46:39 GMT", "Mon, 12 Jan 1970 13:46:40 GMT", "Mon, 12 Jan 1970 13:46:41 GMT");
    for (headers, status) in [
        ("If-Match: \"forerun-1\"".to_owned(), 200),
        ("If-Match: \"x\", \"forerun-1\"".to_owned(), 200),
        ("If-Match: *".to_owned(), 200),
        ("If-Match: \"x\"".to_owned(), 412),
        ("If-None-Match: \"forerun-1\"".to_owned(), 304),
        ("If-None-Match: \"x\", W/\"forerun-1\"".to_owned(), 304),
        ("If-None-Match: *".to_owned(), 304),
        ("If-None-Match: \"x\"".to_owned(), 200),
        (format!("If-Modified-Since: {old}"), 200),
        (format!("If-Modified-Since: {same}"), 304),
        (format!("If-Modified-Since: {new}"), 304),
        ("If-Modified-Since: yesterday".to_owned(), 200),
        (format!("If-Unmodified-Since: {old}"), 412),
        (format!("If-Unmodified-Since: {same}"), 200),
        ("If-Unmodified-Since: tomorrow".to_owned(), 200),
        (format!("If-Match: \"forerun-1\"\nIf-Unmodified-Since: {old}"), 200),
        (format!("If-None-Match: \"x\"\nIf-Modified-Since: {new}"), 200),
        ("If-Range: \"x\"\nRange: bytes=0-1".to_owned(), 200),
        ("If-Range: \"forerun-1\"\nRange: bytes=0-1".to_owned(), 206),
    ] {
        for method in ["GET", "HEAD"] {
            let reply = served.ask(&format!("{method} /bucket/dated\n{headers}"));
            assert_eq!(reply.status, status, "{method} {headers}");
            let is_told = reply.header("etag") == Some("\"forerun-1\"");
            assert!(is_told || status == 412, "{method} {headers}");
        }
    }
    assert_eq!(served.ask("GET /bucket/dated").header("last-modified"), Some(same));
}

#[test]
fn names_that_are_not_there_are_refused() {
    let served = served();
    for (request, status, code) in [
        ("GET /bucket/b", 404, "NoSuchKey"),
        ("GET /bucket/d", 404, "NoSuchKey"),
        ("GET /bucket/d/", 404, "NoSuchKey"),
        ("GET /bucket/a/", 404, "NoSuchKey"),
        ("GET /bucket/a/b", 404, "NoSuchKey"),
        ("GET /bucket//a", 404, "NoSuchKey"),
        ("GET /bucket/.", 404, "NoSuchKey"),
        ("GET /bucket/d/../a", 404, "NoSuchKey"),
        ("GET /bucket/a?versionId=null0", 404, "NoSuchVersion"),
        ("GET /none-such/a", 404, "NoSuchBucket"),
        ("GET /none-such", 404, "NoSuchBucket"),
        ("GET /none-such?list-type=2", 404, "NoSuchBucket"),
        ("GET /none-such?location", 404, "NoSuchBucket"),
        ("GET /None_Such", 400, "InvalidBucketName"),
        ("GET /bucket/%ff", 400, "InvalidURI"),
    ] {
        let reply = served.ask(request);
        assert_eq!((reply.status, texts(&reply, "Code")), (status, vec![code.to_owned()]), "{request}");
        assert_eq!(reply.header("content-type"), Some("application/xml"), "{request}");
        let head = served.ask(&request.replace("GET", "HEAD"));
        let is_list = request.contains("?l");
        assert!(is_list || (head.status, head.body.len()) == (status, 0), "{request}: {}", head.status);
    }
    assert_eq!(served.ask("GET /bucket/a?versionId=null").body, pattern(10, 1));
}

#[test]
fn writes_and_unknown_operations_are_refused() {
    let served = served();
    for (request, status, code) in [
        ("PUT /bucket/b\nContent-Length: 0", 403, "AccessDenied"),
        ("PUT /new-bucket\nContent-Length: 0", 403, "AccessDenied"),
        ("PUT /bucket/b\nx-amz-copy-source: /bucket/a\nContent-Length: 0", 403, "AccessDenied"),
        ("POST /bucket/b?uploads\nContent-Length: 0", 403, "AccessDenied"),
        ("POST /bucket?delete\nContent-Length: 0", 403, "AccessDenied"),
        ("DELETE /bucket/a", 403, "AccessDenied"),
        ("DELETE /bucket", 403, "AccessDenied"),
        ("GET /bucket/a?acl", 501, "NotImplemented"),
        ("GET /bucket/a?tagging", 501, "NotImplemented"),
        ("GET /bucket?versions", 501, "NotImplemented"),
        ("GET /bucket?uploads", 501, "NotImplemented"),
    ] {
        let reply = served.ask(request);
        assert_eq!((reply.status, texts(&reply, "Code")), (status, vec![code.to_owned()]), "{request}");
    }
    assert_eq!(served.ask("GET /bucket/a").body, pattern(10, 1));
}
