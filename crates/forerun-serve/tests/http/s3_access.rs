//! Clients with and without signatures.

use std::time::{Duration, SystemTime};

use forerun_serve::Limits;

use super::client::Reply;
use super::s3::texts;
use super::signer::Signer;
use super::support::{Served, pattern};

fn signer() -> Signer {
    Signer { key: "AKIAEXAMPLE", secret: "secret", at: SystemTime::now() }
}

fn minutes(count: u64) -> Duration {
    Duration::from_secs(60 * count)
}

fn closed() -> Served {
    Served::with(&[("a", pattern(100, 1)), ("b c", vec![2])], "s3 AKIAEXAMPLE secret\n", Limits::default())
}

fn code(reply: &Reply) -> String {
    texts(reply, "Code").concat()
}

#[test]
fn a_signature_in_headers_opens_all() {
    let served = closed();
    let ask = |target: &str, signed: &[(&str, &str)]| {
        let others: String = signed.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        served.ask(&format!("GET {target}\n{others}{}", signer().headers("GET", target, signed)))
    };
    assert!(ask("/bucket/a", &[]).body == pattern(100, 1));
    assert_eq!(ask("/bucket/b%20c", &[]).body, [2]);
    assert!(ask("/", &[]).text().contains("<Name>bucket</Name>"));
    assert_eq!(texts(&ask("/bucket?list-type=2&prefix=b", &[]), "Key"), ["b c"]);
    // Most clients sign the headers about ranges and conditions as well.
    let part = ask("/bucket/a", &[("if-match", "\"forerun-1\""), ("range", "bytes=0-9")]);
    assert!(part.status == 206 && part.body == pattern(100, 1)[..10]);
    let answer = ask("/bucket/a?response-content-disposition=inline&response-content-type=text%2Fcsv", &[]);
    assert_eq!(answer.header("content-disposition"), Some("inline"));
    assert_eq!(answer.header("content-type"), Some("text/csv"));
}

#[test]
fn a_wrong_signature_in_headers_opens_nothing() {
    let served = closed();
    let old = SystemTime::now() - minutes(16);
    let new = SystemTime::now() + minutes(16);
    for (signer, expected) in [
        (Signer { secret: "other", ..signer() }, "SignatureDoesNotMatch"),
        (Signer { key: "AKIAOTHER", ..signer() }, "InvalidAccessKeyId"),
        (Signer { at: old, ..signer() }, "RequestTimeTooSkewed"),
        (Signer { at: new, ..signer() }, "RequestTimeTooSkewed"),
    ] {
        let reply = served.ask(&format!("GET /bucket/a\n{}", signer.headers("GET", "/bucket/a", &[])));
        assert_eq!((reply.status, code(&reply)), (403, expected.to_owned()));
    }
    let signed = signer().headers("GET", "/bucket/a", &[]);
    for request in ["GET /bucket/b%20c", "HEAD /bucket/a", "GET /bucket/a?versionId=null", "GET /"] {
        assert_eq!(served.ask(&format!("{request}\n{signed}")).status, 403, "{request}");
    }
    let cut = |from: &str, to: &str| signed.replace(from, to);
    for (headers, status) in [
        (cut("Signature=", "Signature=0"), 403),
        (cut("x-amz-date: ", "x-amz-date: x"), 400),
        (cut("x-amz-date: ", "x-other: "), 400),
        (cut("UNSIGNED-PAYLOAD", "x"), 403),
        (cut("AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/", "AWS4-HMAC-SHA256 Credential="), 400),
        (cut("/s3/", "/iam/"), 501),
        ("Authorization: ".to_owned(), 400),
        ("Authorization: x".to_owned(), 400),
        ("Authorization: AWS AKIAEXAMPLE:AAAAAAAAAAAAAAAAAAAAAAAAAAA=".to_owned(), 400),
        ("Authorization: Basic QUtJQUVYQU1QTEU6c2VjcmV0".to_owned(), 400),
    ] {
        let reply = served.ask(&format!("GET /bucket/a\n{headers}"));
        assert!(
            reply.status == status && reply.body != pattern(100, 1),
            "{headers}: {} {}",
            reply.status,
            reply.text()
        );
    }
}

#[test]
fn a_signed_url_opens_one_object_for_a_while() {
    let served = closed();
    let url = signer().presigned("GET", "/bucket/a?response-cache-control=no-store", 60);
    let reply = served.ask(&format!("GET {url}"));
    assert!(reply.status == 200 && reply.body == pattern(100, 1), "{}", reply.status);
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    assert_eq!(served.ask(&format!("GET {url}\nRange: bytes=0-9")).body, pattern(100, 1)[..10]);
    assert_eq!(served.ask(&format!("HEAD {}", signer().presigned("HEAD", "/bucket/a", 60))).status, 200);

    let at = |at: SystemTime, seconds| Signer { at, ..signer() }.presigned("GET", "/bucket/a", seconds);
    let now = SystemTime::now();
    assert_eq!(served.ask(&format!("GET {}", at(now - minutes(10), 3600))).status, 200);
    for (target, status) in [
        (at(now - minutes(10), 60), 403),
        (at(now + minutes(16), 60), 403),
        (at(now, -7), 400),
        (Signer { secret: "other", ..signer() }.presigned("GET", "/bucket/a", 60), 403),
        (Signer { key: "AKIAOTHER", ..signer() }.presigned("GET", "/bucket/a", 60), 403),
        (signer().presigned("HEAD", "/bucket/a", 60), 403),
        (url.replace("/bucket/a", "/bucket/b%20c"), 403),
        (url.replace("no-store", "no-cache"), 403),
        (format!("{url}&versionId=null"), 403),
        (url.replace("X-Amz-Expires=60", "X-Amz-Expires=600"), 403),
        (url.replace("&X-Amz-Date=", "&X-Other="), 400),
        (url.replace("&X-Amz-Signature=", "&X-Other="), 403),
        (url.replace("&X-Amz-Signature=", "&X-Amz-Signature=0"), 400),
    ] {
        let reply = served.ask(&format!("GET {target}"));
        assert!(reply.status == status && reply.body != pattern(100, 1), "{target}: {}", reply.text());
    }
}

#[test]
fn a_signed_url_is_valid_for_a_week_at_most() {
    let served = closed();
    let week = 7 * 24 * 3600;
    let ask = |seconds| served.ask(&format!("GET {}", signer().presigned("GET", "/bucket/a", seconds)));
    assert!(ask(week).body == pattern(100, 1));
    let reply = ask(week + 1);
    assert_eq!((reply.status, code(&reply)), (400, "AuthorizationQueryParametersError".to_owned()));
    assert!(
        reply.text().contains("X-Amz-Expires is longer than a week (604800 seconds)"),
        "{}",
        reply.text()
    );
}

#[test]
fn signatures_of_version_2_are_refused_with_the_version_that_is_needed() {
    let served = closed();
    for request in [
        "GET /bucket/a?AWSAccessKeyId=AKIAEXAMPLE&Expires=4102444800&Signature=AAAAAAAAAAAAAAAAAAAAAAAAAAA%3D",
        "GET /bucket/a\nx-amz-date: 20260101T000000Z\nAuthorization: AWS AKIAEXAMPLE:AAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    ] {
        let reply = served.ask(request);
        assert_eq!((reply.status, code(&reply)), (400, "InvalidRequest".to_owned()), "{request}");
        assert!(reply.text().contains("Sign with version 4 (AWS4-HMAC-SHA256)"), "{}", reply.text());
    }
}

#[test]
fn where_everybody_may_read_signatures_do_not_matter() {
    let served = Served::new(&[("a", pattern(100, 1))]);
    let old = Signer { at: SystemTime::now() - minutes(60), ..signer() };
    for request in [
        "GET /bucket/a".to_owned(),
        format!("GET /bucket/a\n{}", signer().headers("GET", "/bucket/a", &[])),
        format!("GET /bucket/a\n{}", old.headers("GET", "/bucket/a", &[("range", "bytes=0-99")])),
        format!("GET {}", old.presigned("GET", "/bucket/a", 60)),
        format!("GET {}", signer().presigned("GET", "/bucket/a", 8 * 24 * 3600)),
        "GET /bucket/a?AWSAccessKeyId=k&Expires=1&Signature=s".to_owned(),
        "GET /bucket/a\nAuthorization: Basic QUtJQTpz".to_owned(),
    ] {
        let reply = served.ask(&request);
        assert!(reply.status == 200 && reply.body == pattern(100, 1), "{request}: {}", reply.status);
    }
    let target = "/bucket?list-type=2&prefix=a";
    let listed = served.ask(&format!("GET {target}\n{}", signer().headers("GET", target, &[])));
    assert_eq!(texts(&listed, "Key"), ["a"]);
}
