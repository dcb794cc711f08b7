//! S3.

use forerun_serve::Limits;

use super::client::Reply;
use super::support::{MIB, Served, pattern};

/// The texts within `<name>`.
pub(crate) fn texts(reply: &Reply, name: &str) -> Vec<String> {
    let text = reply.text();
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    text.split(&open).skip(1).map(|rest| rest.split(&close).next().unwrap().to_owned()).collect()
}

pub(crate) fn objects(paths: &[&'static str]) -> Vec<(&'static str, Vec<u8>)> {
    paths.iter().map(|path| (*path, vec![1])).collect()
}

#[test]
fn an_object_comes_whole_and_in_parts() {
    let bytes = pattern(2 * MIB + 1, 1);
    let served = Served::new(&[("a/b", bytes.clone())]);
    let reply = served.ask("GET /bucket/a/b");
    assert!(reply.status == 200 && reply.body == bytes);
    assert_eq!(reply.header("etag"), Some("\"forerun-1\""));
    assert_eq!(reply.header("content-type"), Some("binary/octet-stream"));
    let reply = served.ask("GET /bucket/a/b\nRange: bytes=5-1000004");
    assert_eq!((reply.status, reply.header("content-range")), (206, Some("bytes 5-1000004/2097153")));
    assert!(reply.body == bytes[5..1_000_005]);
    let reply = served.ask("GET /bucket/a/b?partNumber=1");
    assert!(reply.status == 206 && reply.body == bytes && reply.header("x-amz-mp-parts-count") == Some("1"));
    let head = served.ask("HEAD /bucket/a/b");
    assert_eq!((head.status, head.header("content-length")), (200, Some("2097153")));
    let reply = served.ask("GET /bucket/a/b?response-content-type=text%2Fcsv");
    assert_eq!(reply.header("content-type"), Some("text/csv"));
}

#[test]
fn refusals_have_the_codes_of_s3() {
    let served = Served::new(&[("a", pattern(10, 1))]);
    for (request, status, code) in [
        ("GET /bucket/none", 404, "NoSuchKey"),
        ("GET /none-such/a", 404, "NoSuchBucket"),
        ("GET /bucket/a\nRange: bytes=10-", 416, "InvalidRange"),
        ("GET /bucket/a\nIf-Match: \"x\"", 412, "PreconditionFailed"),
        ("GET /bucket/a?partNumber=2", 400, "InvalidPart"),
        ("PUT /bucket/b\nContent-Length: 0", 403, "AccessDenied"),
        ("DELETE /bucket/a", 403, "AccessDenied"),
        ("GET /bucket?list-type=2&max-keys=-1", 400, "InvalidArgument"),
        ("GET /bucket?list-type=2&continuation-token=xyz", 400, "InvalidArgument"),
        ("GET /bucket?encoding-type=x", 400, "InvalidArgument"),
    ] {
        let reply = served.ask(request);
        assert_eq!((reply.status, texts(&reply, "Code")), (status, vec![code.to_owned()]), "{request}");
    }
    assert_eq!(served.ask("GET /bucket/a\nIf-None-Match: \"forerun-1\"").status, 304);
    assert_eq!(served.ask("HEAD /bucket/none").status, 404);
    assert_eq!(served.ask("HEAD /none-such").status, 404);
}

#[test]
fn buckets_are_listed_and_known() {
    let served = Served::new(&objects(&["a"]));
    assert_eq!(texts(&served.ask("GET /"), "Name"), ["bucket"]);
    assert_eq!(served.ask("HEAD /bucket").status, 200);
    assert_eq!(served.ask("GET /bucket?location").status, 200);
}

#[test]
fn keys_come_in_the_order_of_their_bytes() {
    // `.` comes before `/`, which comes before `0`.
    let served = Served::new(&objects(&["a/b/c", "a/b.x", "a/b0", "a.x", "a0", "z"]));
    let reply = served.ask("GET /bucket?list-type=2");
    assert_eq!(texts(&reply, "Key"), ["a.x", "a/b.x", "a/b/c", "a/b0", "a0", "z"]);
    assert_eq!(texts(&reply, "KeyCount"), ["6"]);
    let reply = served.ask("GET /bucket?list-type=2&prefix=a/b&start-after=a/b.x");
    assert_eq!(texts(&reply, "Key"), ["a/b/c", "a/b0"]);
    let reply = served.ask("GET /bucket?list-type=2&prefix=none/");
    assert_eq!(texts(&reply, "KeyCount"), ["0"]);
}

#[test]
fn a_delimiter_makes_common_prefixes() {
    let served = Served::new(&objects(&["a/b/c", "a/b/d", "a/x", "b-1", "b-2", "c"]));
    let prefixes = |reply: &Reply| texts(reply, "Prefix").into_iter().skip(1).collect::<Vec<_>>();
    let reply = served.ask("GET /bucket?list-type=2&delimiter=/&prefix=");
    assert_eq!((texts(&reply, "Key"), prefixes(&reply)), (strings(&["b-1", "b-2", "c"]), strings(&["a/"])));
    let reply = served.ask("GET /bucket?list-type=2&delimiter=/&prefix=a/");
    assert_eq!((texts(&reply, "Key"), prefixes(&reply)), (strings(&["a/x"]), strings(&["a/b/"])));
    let reply = served.ask("GET /bucket?list-type=2&delimiter=-&prefix=");
    let keys = strings(&["a/b/c", "a/b/d", "a/x", "c"]);
    assert_eq!((texts(&reply, "Key"), prefixes(&reply)), (keys, strings(&["b-"])));
}

#[test]
fn pages_join_to_the_whole_list() {
    let served = Served::new(&objects(&["a/1", "a/2", "b/1", "c", "d/1", "d/2", "e"]));
    let all = |query: &str| {
        let (mut found, mut token) = (Vec::new(), String::new());
        loop {
            let reply = served.ask(&format!("GET /bucket?list-type=2&max-keys=2{query}{token}"));
            assert_eq!(reply.status, 200, "{}", reply.text());
            let (keys, prefixes) = (texts(&reply, "Key"), texts(&reply, "CommonPrefixes"));
            assert!(keys.len() + prefixes.len() <= 2);
            found.extend(keys);
            found.extend(prefixes);
            match &texts(&reply, "NextContinuationToken")[..] {
                [next] => token = format!("&continuation-token={next}"),
                _ => break,
            }
        }
        found.sort();
        found
    };
    assert_eq!(all(""), ["a/1", "a/2", "b/1", "c", "d/1", "d/2", "e"]);
    let prefix = |name: &str| format!("<Prefix>{name}</Prefix>");
    assert_eq!(
        all("&delimiter=/"),
        [prefix("a/"), prefix("b/"), prefix("d/"), "c".to_owned(), "e".to_owned()]
    );

    let (mut found, mut marker) = (Vec::new(), String::new());
    loop {
        let reply = served.ask(&format!("GET /bucket?max-keys=2&delimiter=/{marker}"));
        found.extend(texts(&reply, "Key"));
        found.extend(texts(&reply, "CommonPrefixes"));
        match &texts(&reply, "NextMarker")[..] {
            [next] => marker = format!("&marker={next}"),
            _ => break,
        }
    }
    found.sort();
    assert_eq!(found, [prefix("a/"), prefix("b/"), prefix("d/"), "c".to_owned(), "e".to_owned()]);
}

#[test]
fn names_are_encoded_if_the_client_asks_for_it() {
    let served = Served::new(&objects(&["a b/é&<"]));
    assert_eq!(texts(&served.ask("GET /bucket?list-type=2"), "Key"), ["a b/é&amp;&lt;"]);
    let reply = served.ask("GET /bucket?list-type=2&encoding-type=url");
    assert_eq!(texts(&reply, "Key"), ["a%20b/%C3%A9%26%3C"]);
    assert_eq!(served.ask("GET /bucket/a%20b/%C3%A9%26%3C").body, [1]);
}

#[test]
fn without_a_signature_nobody_reads_where_there_are_keys() {
    let served = Served::with(&objects(&["a"]), "s3 AKIAEXAMPLE secret\n", Limits::default());
    let refused = served.ask("GET /bucket/a");
    assert_eq!((refused.status, texts(&refused, "Code")), (403, vec!["AccessDenied".to_owned()]));
    // No password opens the other protocol either.
    assert_eq!(served.ask("GET /-/bucket/a").status, 401);
}

pub(crate) fn strings(of: &[&str]) -> Vec<String> {
    of.iter().map(|text| (*text).to_owned()).collect()
}
