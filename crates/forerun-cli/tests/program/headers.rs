//! Credentials of web servers, from a file of headers and from netrc.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

use rustix::process::Signal;

use super::answers::{reply, serve};
use super::support::{Foreground, cat, forerun, output};

/// Two servers: the first one redirects a request with the right `authorization` to the second one,
/// which has the object. Their addresses, and all that the second one was asked.
fn redirecting(authorization: &Arc<Mutex<String>>) -> (String, Arc<Mutex<Vec<String>>>) {
    let heads = Arc::new(Mutex::new(Vec::new()));
    let seen = heads.clone();
    let second = serve(move |request| {
        seen.lock().unwrap().push(request.to_owned());
        let range = |range: &str| format!("HTTP/1.1 206 Partial\r\nContent-Range: bytes {range}/2\r\n");
        match request {
            head if head.starts_with("HEAD") => "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n".to_owned(),
            end if end.contains("range: bytes=1-1") => range("1-1") + "Content-Length: 1\r\n\r\ny",
            _ => range("0-1") + "Content-Length: 2\r\n\r\nxy",
        }
    });
    let wanted = authorization.clone();
    let first = serve(move |request| {
        if request.contains(&format!("authorization: {}\n", wanted.lock().unwrap())) {
            let to = format!("Location: http://{second}/object?X-Amz-Signature=secret");
            return format!("HTTP/1.1 302 Found\r\n{to}\r\nContent-Length: 0\r\n\r\n");
        }
        reply("401 Unauthorized", "text/plain", "")
    });
    (first, heads)
}

/// Checks that the second server got the request for the object, and no credentials.
fn check_bare(heads: &Mutex<Vec<String>>) {
    let heads = std::mem::take(&mut *heads.lock().unwrap());
    assert!(!heads.is_empty());
    for head in heads {
        let head = head.to_lowercase();
        assert!(!["authorization", "x-key", "bearer"].iter().any(|word| head.contains(word)), "{head}");
    }
}

#[test]
fn headers_come_from_a_file_are_read_again_and_stay_with_their_server() {
    let authorization = Arc::new(Mutex::new("Bearer one".to_owned()));
    let (server, heads) = redirecting(&authorization);
    let [folder, directory] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let file = folder.path().join("headers");
    let write = |token: &str| fs::write(&file, format!("Authorization: Bearer {token}\nX-Key: k\n")).unwrap();
    write("one");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let url = format!("http://{server}/object");
    let mut command = forerun();
    // A relative path, which a change of directory must not affect.
    command.current_dir(folder.path()).args([
        "mount",
        "--metadata-ttl",
        "0s",
        "--header-file",
        "headers",
        &url,
    ]);
    let mount = Foreground::start(command.arg(directory.path()), directory.path());
    let object = directory.path().join("object");
    assert_eq!(cat(&object), b"xy");
    check_bare(&heads);
    *authorization.lock().unwrap() = "Bearer second".to_owned();
    write("second");
    assert_eq!(cat(&object), b"xy");
    check_bare(&heads);
    mount.signal(Signal::TERM);
    let said = mount.end().1;
    assert!(!said.contains("other users"), "{said}");
}

#[test]
fn a_file_of_headers_that_cannot_be_used_or_that_others_may_read_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("headers");
    let directory = tempfile::tempdir().unwrap();
    let said = |url: &str| {
        let mut command = forerun();
        command.args(["mount", "--retry-timeout", "0", "--header-file"]).arg(&file).arg(url);
        let output = output(command.arg(directory.path()));
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let server = serve(|_| reply("401 Unauthorized", "text/plain", ""));
    let url = format!("http://{server}/");
    let missing = said(&url);
    assert!(missing.contains("headers cannot be read") && missing.contains("--header-file"), "{missing}");
    fs::write(&file, "\nBearer secret\n").unwrap();
    let wrong = said(&url);
    assert!(wrong.contains("line 2: a header is `Name: value`") && !wrong.contains("secret"), "{wrong}");
    fs::write(&file, "Authorization: Bearer secret\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let refused = said(&url);
    assert!(refused.contains("other users can read the secrets in") && refused.contains("401"), "{refused}");
    assert!(
        refused.contains("a valid token into --header-file") && !refused.contains("secret\n"),
        "{refused}"
    );
    let elsewhere = said("s3://bucket");
    assert!(elsewhere.contains("s3://bucket is not a web server"), "{elsewhere}");
}

#[test]
fn a_user_of_netrc_signs_on_and_stays_with_their_server() {
    // user:secret
    let authorization = Arc::new(Mutex::new("Basic dXNlcjpzZWNyZXQ=".to_owned()));
    let (server, heads) = redirecting(&authorization);
    let [home, directory] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let file = home.path().join(".netrc");
    fs::write(&file, "machine 127.0.0.1 login user password secret\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    for (url, is_let_in) in
        [(format!("http://{server}/object"), true), (format!("http://other:wrong@{server}/object"), false)]
    {
        let mut command = forerun();
        command.env("HOME", home.path()).env_remove("NETRC").args(["mount", &url]).arg(directory.path());
        if !is_let_in {
            let output = output(&mut command);
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(said.contains("check the user and the password in the URL"), "{said}");
            continue;
        }
        let mount = Foreground::start(&mut command, directory.path());
        assert_eq!(cat(&directory.path().join("object")), b"xy");
        check_bare(&heads);
        mount.signal(Signal::TERM);
        let said = mount.end().1;
        assert!(!said.contains("other users"), "{said}");
    }
}
