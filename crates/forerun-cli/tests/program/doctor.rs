//! `forerun doctor`.

use std::fs;

use super::answers::serve;
use super::support::{forerun, output};
use super::users::{is_root, nobody};

/// The exit status of `forerun doctor` with `arguments`, and its lines.
fn doctor(arguments: &[&str]) -> (i32, String) {
    let mut command = forerun();
    command.env_remove("AWS_PROFILE").env("AWS_ACCESS_KEY_ID", "id").env("AWS_SECRET_ACCESS_KEY", "key");
    let output = output(command.args(["doctor", "--retry-timeout", "0"]).args(arguments));
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

/// A server of one file, whose answers have `headers` in addition and send parts if `has_parts`.
fn server(headers: &'static str, has_parts: bool) -> String {
    let address = serve(move |request| {
        let status = match request.to_ascii_lowercase().contains("\nrange: bytes=3-3\n") && has_parts {
            true => "206 Partial Content\r\nContent-Range: bytes 3-3/4\r\nContent-Length: 1",
            false => "200 OK\r\nContent-Length: 4",
        };
        let body = match (request.starts_with("GET"), status.starts_with("206")) {
            (true, true) => "d",
            (true, false) => "abcd",
            (false, _) => "",
        };
        format!("HTTP/1.1 {status}\r\n{headers}\r\n{body}")
    });
    format!("http://{address}/file.bin")
}

fn has(said: &str, level: &str, words: &str) -> bool {
    said.lines().any(|line| line.starts_with(level) && line.contains(words))
}

#[test]
fn a_web_server_that_lacks_nothing_is_fine() {
    let url = server("ETag: \"x\"\r\n", true);
    let (_, said) = doctor(&[&url]);
    for words in
        ["reach: ", "credentials: none are needed", "ranges: the server sends parts of objects (206)"]
    {
        assert!(has(&said, "ok", &format!("{url}: {words}")), "{said}");
    }
    assert!(has(&said, "ok", "versions: an ETag"), "{said}");
}

#[test]
fn a_machine_without_certificates_uses_servers_without_tls() {
    let url = server("ETag: \"x\"\r\n", true);
    let mut command = forerun();
    command.env("SSL_CERT_FILE", "/nowhere").env_remove("SSL_CERT_DIR");
    let output = output(command.args(["doctor", "--retry-timeout", "0", &url]));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(has(&said, "ok", &format!("{url}: reach: ")), "{said}");
}

#[test]
fn a_server_without_parts_or_validators_is_told() {
    let (status, said) = doctor(&[&server("", false)]);
    assert_eq!(status, 3, "{said}");
    assert!(has(&said, "fault", "ranges: ") && has(&said, "ok", "reach: "), "{said}");
    let (_, said) = doctor(&[&server("", true)]);
    assert!(has(&said, "warning", "versions: the server sends neither ETag"), "{said}");
}

#[test]
fn a_clock_that_differs_and_credentials_that_are_refused_are_faults_of_a_bucket() {
    let address = serve(|_| {
        let body = "<Error><Code>RequestTimeTooSkewed</Code><Message>no</Message></Error>";
        let date = "Date: Thu, 26 Nov 2015 12:00:00 GMT";
        format!("HTTP/1.1 403 Forbidden\r\n{date}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
    });
    let endpoint = format!("http://{address}");
    let (status, said) = doctor(&["--endpoint", &endpoint, "--region", "us-east-1", "s3://bucket"]);
    assert_eq!(status, 3, "{said}");
    assert!(has(&said, "fault", "clock: this clock is") && said.contains("15 minutes"), "{said}");
    let refused = format!("GET {endpoint}/bucket answered 403");
    assert!(has(&said, "fault", "AWS_ACCESS_KEY_ID") && has(&said, "fault", &refused), "{said}");
}

#[test]
fn an_address_that_nobody_listens_to_is_a_fault() {
    let (status, said) = doctor(&["http://127.0.0.1:1/file.bin"]);
    assert_eq!(status, 3, "{said}");
    assert!(has(&said, "fault", "http://127.0.0.1:1/file.bin: reach: "), "{said}");
}

#[test]
fn json_has_the_level_the_url_the_check_and_the_message() {
    let source = tempfile::tempdir().unwrap();
    fs::write(source.path().join("hello"), "hello").unwrap();
    let (_, said) = doctor(&["--json", source.path().to_str().unwrap()]);
    for key in [
        "\"level\": \"ok\"",
        "\"check\": \"device\"",
        "\"check\": \"read\"",
        "\"message\": \"it can be read\"",
    ] {
        assert!(said.contains(key), "{key} is not in {said}");
    }
    assert!(said.contains(&format!("\"url\": \"{}\"", source.path().display())), "{said}");
}

#[test]
fn memory_that_is_not_there_is_a_fault() {
    let (status, said) = doctor(&["--memory", "1000000G"]);
    assert_eq!(status, 3, "{said}");
    assert!(has(&said, "fault", "memory: a mount with --memory "), "{said}");
}

#[test]
fn an_ordinary_user_needs_the_setting_only_for_other_users() {
    let mut command = if is_root() { nobody(env!("CARGO_BIN_EXE_forerun")) } else { forerun() };
    let said = output(command.args(["doctor", "--allow-other"])).stdout;
    let said = String::from_utf8(said).unwrap();
    let settings = fs::read_to_string("/etc/fuse.conf").unwrap_or_default();
    let is_set = settings.lines().any(|line| line.trim() == "user_allow_other");
    assert!(has(&said, if is_set { "ok" } else { "fault" }, "allow-other: "), "{said}");
    assert!(has(&said, "ok", "right: ") && has(&said, "ok", "device: "), "these tests mount: {said}");
}
