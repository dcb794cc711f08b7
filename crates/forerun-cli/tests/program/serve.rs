//! `forerun serve`.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::serving::Serving;
use super::support::{forerun, output};

/// The answer to a GET of `path`: its status line, and its body.
pub(crate) fn get(address: &str, path: &str, headers: &str) -> (String, Vec<u8>) {
    get_over(TcpStream::connect(address).unwrap(), address, path, headers)
}

/// The same over a connection.
pub(crate) fn get_over(
    mut stream: impl Read + Write,
    address: &str,
    path: &str,
    headers: &str,
) -> (String, Vec<u8>) {
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\r\n").unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|end| end == b"\r\n\r\n").unwrap();
    let line = String::from_utf8_lossy(&bytes).lines().next().unwrap().to_owned();
    (line, bytes[end + 4..].to_vec())
}

pub(crate) fn serve(options: &[&str], urls: &[&str]) -> Command {
    let mut command = forerun();
    command.args(["serve", "--memory", "16MiB", "--http", "127.0.0.1:0"]).args(options).args(urls);
    command
}

/// The address in a greeting.
pub(crate) fn address(serving: &Serving) -> String {
    let places = serving.greeting.split(" (buckets").next().unwrap();
    places.split("http://").last().unwrap().split(' ').next().unwrap().to_owned()
}

pub(crate) fn files() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("data/sub")).unwrap();
    fs::write(folder.path().join("data/a.bin"), vec![1; 100_000]).unwrap();
    fs::write(folder.path().join("data/sub/b.txt"), "hello").unwrap();
    folder
}

/// Writes a file that nobody else reads.
pub(crate) fn secret(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

pub(crate) fn named(name: &str, path: &Path) -> String {
    format!("{name}={}", path.display())
}

#[test]
fn a_directory_is_served_in_both_protocols_until_a_signal_comes() {
    let folder = files();
    let data = folder.path().join("data");
    let serving =
        Serving::start(&mut serve(&[], &[data.to_str().unwrap(), &named("more", &data.join("sub"))]));
    assert!(
        serving.greeting.contains("(buckets data, more, policy adaptive, memory 16 MiB)"),
        "{}",
        serving.greeting
    );
    let address = address(&serving);
    assert!(get(&address, "/data/a.bin", "").1 == vec![1; 100_000]);
    assert_eq!(get(&address, "/more/b.txt", "").1, b"hello");
    assert_eq!(get(&address, "/-/data/sub/b.txt", "Range: bytes=1-2\r\n").1, b"el");
    let list = String::from_utf8(get(&address, "/data?list-type=2", "").1).unwrap();
    assert!(list.contains("<Key>a.bin</Key>") && list.contains("<Key>sub/b.txt</Key>"), "{list}");
    assert_eq!(serving.end(), (Some(0), String::new()));
}

/// One server reads from the other: with signatures, and from its pages.
#[test]
fn clients_with_keys_and_passwords_read() {
    let folder = files();
    let data = named("data", &folder.path().join("data"));
    let (keys, log) = (folder.path().join("keys"), folder.path().join("log"));
    secret(&keys, "s3 AKIAEXAMPLE top-secret\nbearer t0k\n");
    let options = ["--credentials", keys.to_str().unwrap(), "--access-log", log.to_str().unwrap()];
    let first = Serving::start(&mut serve(&options, &[&data]));
    let at_first = address(&first);
    assert!(get(&at_first, "/data/a.bin", "").0.contains("403"));
    assert!(get(&at_first, "/-/data/a.bin", "").0.contains("401"));

    let endpoint = format!("http://{at_first}");
    let signed = |secret: &str| {
        let mut command = serve(&["--endpoint", &endpoint, "--region", "us-east-1"], &["copy=s3://data"]);
        command.env("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE").env("AWS_SECRET_ACCESS_KEY", secret);
        command
    };
    let second = Serving::start(&mut signed("top-secret"));
    let at_second = address(&second);
    assert!(get(&at_second, "/copy/a.bin", "").1 == vec![1; 100_000]);
    assert_eq!(get(&at_second, "/-/copy/sub/b.txt", "").1, b"hello");
    assert!(get(&at_second, "/copy/none", "").0.contains("404"));
    let refused = output(&mut signed("wrong"));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(1) && !said.contains("top-secret"), "{said}");

    let header = folder.path().join("header");
    secret(&header, "Authorization: Bearer t0k\n");
    let pages = format!("copy={endpoint}/-/data/");
    let third = Serving::start(&mut serve(&["--header-file", header.to_str().unwrap()], &[&pages]));
    let at_third = address(&third);
    assert_eq!(get(&at_third, "/copy/sub/b.txt", "").1, b"hello");
    let list = String::from_utf8(get(&at_third, "/copy?list-type=2&prefix=sub/", "").1).unwrap();
    assert!(list.contains("<Key>sub/b.txt</Key>"), "{list}");

    for server in [third, second, first] {
        assert_eq!(server.end().0, Some(0));
    }
    let lines = fs::read_to_string(&log).unwrap();
    assert!(lines.lines().any(|line| line.contains("\"GET /data/a.bin HTTP/1.1\" 403 ")), "{lines}");
    assert!(lines.lines().any(|line| line.contains("/data/a.bin") && line.contains(" 206 ")), "{lines}");
    assert!(!lines.contains("broken"), "all answers were complete: {lines}");
    assert!(!lines.contains("top-secret") && !lines.contains("t0k"), "{lines}");
}

#[test]
fn a_unix_socket_serves_as_well() {
    let folder = files();
    let socket = folder.path().join("http");
    let mut command = forerun();
    command
        .args(["serve", "--http"])
        .arg(format!("unix:{}", socket.display()))
        .arg(folder.path().join("data"));
    let serving = Serving::start(&mut command);
    let mut stream = std::os::unix::net::UnixStream::connect(&socket).unwrap();
    write!(stream, "GET /data/sub/b.txt HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("\r\n\r\nhello"), "{answer}");
    assert_eq!(serving.end().0, Some(0));
    assert!(!socket.exists());
}

#[test]
fn what_cannot_be_served_is_said() {
    let folder = files();
    let data = folder.path().join("data");
    let (data, bad) = (data.to_str().unwrap(), named("A_B", &data));
    let keys = folder.path().join("keys");
    fs::write(&keys, "what is this\n").unwrap();
    let said = |arguments: &[&str]| {
        let refused = output(forerun().arg("serve").args(arguments));
        assert!(!refused.status.success(), "{arguments:?}");
        String::from_utf8(refused.stderr).unwrap()
    };
    for (arguments, words) in [
        (&[data][..], "give --http ADDR"),
        (&["--http", "0.0.0.0:0", data], "give --credentials FILE or --tls-client-ca PEM, or --public"),
        (&["--http", "127.0.0.1:0", &bad], "no bucket can be called \"A_B\""),
        (&["--http", "127.0.0.1:0", data, data], "two buckets are called \"data\""),
        (&["--http", "127.0.0.1:0", "--credentials", keys.to_str().unwrap(), data], "line 1 is none of"),
        (&["--http", "127.0.0.1:0", "--credentials", "/none/such", data], "cannot be read"),
        (
            &["--http", "127.0.0.1:0", "--access-log", "/none/such", data],
            "the access log /none/such cannot be opened",
        ),
    ] {
        let said = said(arguments);
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
    let public = Serving::start(forerun().args(["serve", "--http", "0.0.0.0:0", "--public", data]));
    assert_eq!(public.end().0, Some(0));
}
