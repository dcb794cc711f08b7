//! Hosts that name buckets.

use forerun_serve::http::Domain;

use super::support::{Served, pattern};

#[test]
fn a_host_below_the_domain_names_the_bucket() {
    let bytes = pattern(100, 1);
    let domain = Domain::new("s3.example.org").unwrap();
    let served = Served::by(&[("a/b", bytes.clone()), ("-/c", bytes.clone())], "", |server| {
        server.with_domain(domain)
    });
    let ask = |host: &str, path: &str| {
        let mut client = served.connect();
        client.send(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes());
        client.reply(true)
    };
    for (host, path) in [
        ("bucket.s3.example.org", "/a/b"),
        ("Bucket.s3.example.org:9100", "/a/b"),
        ("bucket.s3.example.org", "/-/c"),
        ("s3.example.org", "/bucket/a/b"),
        ("s3.example.org", "/-/bucket/a/b"),
        ("other.example.org", "/bucket/a/b"),
        ("127.0.0.1:9100", "/bucket/a/b"),
    ] {
        let reply = ask(host, path);
        assert!(reply.status == 200 && reply.body == bytes, "{host}{path}: {}", reply.text());
    }
    assert!(ask("bucket.s3.example.org", "/?list-type=2").text().contains("<Key>a/b</Key>"));
    assert!(ask("s3.example.org", "/").text().contains("<Name>bucket</Name>"));
    for (host, path, code) in [
        ("bucket.s3.example.org", "/bucket/a/b", "NoSuchKey"),
        ("none.s3.example.org", "/a/b", "NoSuchBucket"),
    ] {
        let reply = ask(host, path);
        assert!(reply.status == 404 && reply.text().contains(code), "{host}{path}: {}", reply.text());
    }
}
