//! Redirects, which carry credentials to no other server.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use super::answers::{reply, serve};
use super::support::{Foreground, cat, forerun};

type Heads = Arc<Mutex<Vec<String>>>;

/// The object of two bytes, for HEAD and for reads of all of it or of its end.
fn object(request: &str) -> String {
    let part = |range: &str, bytes: &str| {
        let len = bytes.len();
        format!("HTTP/1.1 206 Part\r\nContent-Range: bytes {range}/2\r\nContent-Length: {len}\r\n\r\n{bytes}")
    };
    match request {
        head if head.starts_with("HEAD") => "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n".to_owned(),
        end if end.contains("range: bytes=1-1") => part("1-1", "y"),
        _ => part("0-1", "xy"),
    }
}

fn redirect(to: &str) -> String {
    let cookie = "Set-Cookie: given=secret";
    format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\n{cookie}\r\nContent-Length: 0\r\n\r\n")
}

/// A server that answers as `answer` says, and the heads of the requests that it got.
fn heard(answer: impl Fn(&str) -> String + Clone + Send + 'static) -> (String, Heads) {
    let heads = Heads::default();
    let seen = heads.clone();
    let address = serve(move |request| {
        seen.lock().unwrap().push(request.to_owned());
        answer(request)
    });
    (address, heads)
}

#[test]
fn a_user_and_headers_stay_with_their_server_and_go_along_within_it() {
    let (other, other_heads) = heard(object);
    let (server, heads) = heard(move |request| match request.split(' ').nth(1).unwrap() {
        "/within" => redirect("/moved/object"),
        "/moved/object" => object(request),
        _ => redirect(&format!("http://{other}/object")),
    });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("headers");
    fs::write(&file, "Cookie: session=secret\nX-Key: secret\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    for name in ["within", "away"] {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("http://user:secret@{server}/{name}");
        let mut command = forerun();
        command.args(["mount", "--header-file"]).arg(&file).arg(&url).arg(directory.path());
        let _mount = Foreground::start(&mut command, directory.path());
        assert_eq!(cat(&directory.path().join(name)), b"xy");
    }
    let heads = std::mem::take(&mut *heads.lock().unwrap());
    let redirected = heads.iter().filter(|head| head.contains(" /moved/object "));
    assert!(redirected.clone().count() >= 2, "{heads:?}");
    for head in heads {
        // user:secret
        for line in ["authorization: Basic dXNlcjpzZWNyZXQ=", "cookie: session=secret", "x-key: secret"] {
            assert!(head.contains(&format!("{line}\n")), "no {line}: {head}");
        }
        assert!(!head.contains("given"), "a cookie that the server set is kept: {head}");
    }
    let heads = std::mem::take(&mut *other_heads.lock().unwrap());
    assert!(heads.len() >= 2, "{heads:?}");
    for head in heads.iter().map(|head| head.to_lowercase()) {
        assert!(
            !["authorization", "cookie", "x-key", "secret"].iter().any(|word| head.contains(word)),
            "{head}"
        );
    }
}

#[test]
fn an_object_store_that_redirects_is_not_followed() {
    let (other, other_heads) = heard(object);
    let (store, heads) = heard(move |request| {
        let elsewhere = || {
            let to = format!("http://{other}/bucket/object");
            format!("HTTP/1.1 307 Temporary Redirect\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
        };
        let dated = "Last-Modified: Sat, 21 Nov 2026 10:00:00 GMT";
        match request.lines().next().unwrap() {
            list if list.contains("prefix=list%2F") => elsewhere(),
            list if list.contains("list-type=2") => {
                reply("200 OK", "application/xml", "<ListBucketResult></ListBucketResult>")
            }
            read if read.starts_with("HEAD /bucket/read ") => {
                format!("HTTP/1.1 200 OK\r\n{dated}\r\nETag: \"e\"\r\nContent-Length: 2\r\n\r\n")
            }
            _ => elsewhere(),
        }
    });
    let directory = tempfile::tempdir().unwrap();
    let mut command = forerun();
    command.env("AWS_ACCESS_KEY_ID", "id").env("AWS_SECRET_ACCESS_KEY", "key");
    command.env("AWS_SESSION_TOKEN", "session").env("HOME", "/nowhere");
    let endpoint = format!("http://{store}");
    command.args(["mount", "--retry-timeout", "0", "--endpoint", &endpoint, "s3://bucket"]);
    let mount = Foreground::start(command.arg(directory.path()), directory.path());
    for (program, name) in [("stat", "found"), ("cat", "read"), ("ls", "list")] {
        let mut command = Command::new(program);
        let status = command.arg(directory.path().join(name)).stderr(Stdio::null()).status().unwrap();
        assert!(!status.success(), "{program} {name}");
    }
    drop(mount);
    let heads = std::mem::take(&mut *heads.lock().unwrap());
    for asked in ["HEAD /bucket/found ", "GET /bucket/read ", "prefix=list%2F"] {
        let signed = |head: &String| head.contains(asked) && head.contains("x-amz-security-token: session\n");
        assert!(heads.iter().any(signed), "no request {asked:?} in {heads:?}");
    }
    let heads = std::mem::take(&mut *other_heads.lock().unwrap());
    assert!(heads.is_empty(), "{heads:?}");
}
