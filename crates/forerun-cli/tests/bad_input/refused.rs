//! Sources that cannot be mounted at all.

use std::net::TcpListener;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::site::Site;
use crate::support::program::{is_mounted, output};
use crate::support::{Store, mount, pattern};

/// Checks that `command` does not mount and says so in one sentence with `words`.
fn check_refused(mut command: Command, words: &[&str]) {
    let directory = tempfile::tempdir().unwrap();
    let output = output(command.arg(directory.path()));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{command:?}: {stderr}");
    assert!(stderr.starts_with("forerun: ") && stderr.lines().count() == 1, "{command:?}: {stderr}");
    for word in words {
        assert!(stderr.contains(word), "{command:?}: no {word:?} in {stderr}");
    }
    assert_eq!(output.stdout, b"");
    assert!(!is_mounted(directory.path()), "{command:?}: {stderr}");
}

/// An address at which nobody listens.
fn nobody() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

#[test]
fn a_bucket_that_is_not_there() {
    let store = Store::start();
    let words = ["s3://nobucket", "NoSuchBucket", "check the bucket \"nobucket\"", &store.endpoint];
    check_refused(store.mount("s3://nobucket"), &words);
    let words = ["s3://bucket/nothing", "there is no object or prefix \"nothing\"", "check the bucket"];
    check_refused(store.mount("s3://bucket/nothing"), &words);
}

#[test]
fn credentials_that_are_wrong_or_missing() {
    let store = Store::start();
    let mut wrong_secret = store.mount("s3://bucket");
    wrong_secret.env("AWS_SECRET_ACCESS_KEY", "wrong");
    let words = ["s3://bucket", "SignatureDoesNotMatch", "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"];
    check_refused(wrong_secret, &words);
    let mut unknown = store.mount("s3://bucket");
    unknown.env("AWS_ACCESS_KEY_ID", "somebody");
    check_refused(unknown, &["s3://bucket", "403", "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"]);
    let none = mount(&["--endpoint", &store.endpoint, "s3://bucket"]);
    check_refused(none, &["s3://bucket", "no credentials were found; set AWS_ACCESS_KEY_ID", "--anonymous"]);
    let anonymous = mount(&["--anonymous", "--endpoint", &store.endpoint, "s3://bucket"]);
    check_refused(anonymous, &["s3://bucket", "AccessDenied", "--profile"]);
}

#[test]
fn a_server_that_is_not_there_is_given_up_soon() {
    let began = Instant::now();
    let endpoint = format!("http://{}", nobody());
    let mut store = mount(&["--endpoint", &endpoint, "s3://bucket"]);
    store.env("AWS_ACCESS_KEY_ID", "id").env("AWS_SECRET_ACCESS_KEY", "key");
    check_refused(store, &["s3://bucket", "refused", "gave up after 6 tries", "check --endpoint", &endpoint]);
    let site = format!("http://{}/", nobody());
    check_refused(mount(&[&site]), &[&site, "refused", "check the host and the port"]);
    // Of a host that does not exist nobody can say that it refuses.
    check_refused(
        mount(&["http://nowhere.invalid/"]),
        &["http://nowhere.invalid/", "check the host and the port"],
    );
    assert!(began.elapsed() < Duration::from_secs(20), "it took {:?}", began.elapsed());
}

#[test]
fn a_web_server_that_will_not_or_cannot() {
    let site = Site::start(&pattern(1 << 20, 1));
    let url = site.url("nothing");
    check_refused(mount(&[&url]), &[&url, "404"]);
    site.behave(|manners| manners.always = Some(401));
    check_refused(mount(&[&site.url("")]), &[&site.url(""), "401", "user:password@"]);
    site.behave(|manners| manners.always = Some(503));
    check_refused(mount(&[&site.url("")]), &[&site.url(""), "503", "gave up after 6 tries"]);
    site.behave(|manners| (manners.always, manners.ignores_range) = (None, true));
    check_refused(mount(&[&site.url("file")]), &[&site.url("file"), "cannot send part of an object"]);
    site.behave(|manners| (manners.ignores_range, manners.compresses) = (false, true));
    check_refused(mount(&[&site.url("file")]), &[&site.url("file"), "turn compression off"]);
}

#[test]
fn options_that_do_not_fit_the_url() {
    let mounted = mount(&["--endpoint", "http://localhost:9000", "/usr/share"]);
    check_refused(mounted, &["an endpoint was given, but /usr/share is not an object store; leave it out"]);
    check_refused(mount(&["--endpoint", "localhost:9000", "s3://bucket"]), &["http://host:port"]);
    check_refused(mount(&["ftp://host/"]), &["ftp", "s3://"]);
    let site = Site::start(b"");
    let passed = mount(&["--passthrough", &site.url("")]);
    check_refused(passed, &[&site.url(""), "--passthrough needs a local directory"]);
}
