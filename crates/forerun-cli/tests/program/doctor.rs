//! `forerun doctor`.

mod machine;

use std::fs;
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::answers::{reply, serve};
use super::support::{forerun, output};

/// The lines of `forerun doctor` with `arguments`.
fn doctor(arguments: &[&str]) -> String {
    let mut command = forerun();
    command.env_remove("AWS_PROFILE").env("AWS_ACCESS_KEY_ID", "id").env("AWS_SECRET_ACCESS_KEY", "key");
    lines(command.args(["doctor", "--retry-timeout", "0"]).args(arguments))
}

/// The lines of `command`, which runs `forerun doctor`. Its status is 3 exactly if one of them is a fault.
fn lines(command: &mut Command) -> String {
    let output = output(command);
    let said = String::from_utf8(output.stdout).unwrap();
    let is_fault = |line: &str| line.starts_with("fault ") || line.contains("\"level\": \"fault\"");
    let status = if said.lines().any(is_fault) { 3 } else { 0 };
    assert_eq!(output.status.code(), Some(status), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
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

/// The lines about a bucket without objects, whose server's clock shows `time` of this clock.
fn doctor_of_bucket(time: fn(SystemTime) -> SystemTime, options: &[&str]) -> String {
    let address = serve(move |_| {
        let status = format!("200 OK\r\nDate: {}", httpdate::fmt_http_date(time(SystemTime::now())));
        reply(&status, "application/xml", "<ListBucketResult><Name>bucket</Name></ListBucketResult>")
    });
    let endpoint = format!("http://{address}");
    doctor(&[&["--endpoint", &endpoint, "--region", "us-east-1", "s3://bucket"][..], options].concat())
}

fn has(said: &str, level: &str, words: &str) -> bool {
    said.lines().any(|line| line.starts_with(level) && line.contains(words))
}

#[test]
fn a_web_server_that_lacks_nothing_is_fine() {
    let url = server("ETag: \"x\"\r\n", true);
    let said = doctor(&[&url]);
    for words in
        ["reach: ", "credentials: none are needed", "ranges: the server sends parts of objects (206)"]
    {
        assert!(has(&said, "ok", &format!("{url}: {words}")), "{said}");
    }
    assert!(has(&said, "ok", "versions: an ETag"), "{said}");
    // Its status is 0, as [`lines`] checks.
    assert!(!has(&said, "fault", ""), "{said}");
}

#[test]
fn a_machine_without_certificates_uses_servers_without_tls() {
    let url = server("ETag: \"x\"\r\n", true);
    let mut command = forerun();
    command.env("SSL_CERT_FILE", "/nowhere").env_remove("SSL_CERT_DIR");
    let said = lines(command.args(["doctor", "--retry-timeout", "0", &url]));
    assert!(has(&said, "ok", &format!("{url}: reach: ")), "{said}");
}

#[test]
fn a_server_without_parts_or_validators_is_told() {
    let said = doctor(&[&server("", false)]);
    assert!(has(&said, "fault", "ranges: ") && has(&said, "ok", "reach: "), "{said}");
    let said = doctor(&[&server("", true)]);
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
    let said = doctor(&["--endpoint", &endpoint, "--region", "us-east-1", "s3://bucket"]);
    assert!(has(&said, "fault", "clock: this clock is") && said.contains("15 minutes"), "{said}");
    let refused = format!("GET {endpoint}/bucket answered 403");
    assert!(has(&said, "fault", "AWS_ACCESS_KEY_ID") && has(&said, "fault", &refused), "{said}");
}

#[test]
fn a_clock_that_differs_by_minutes_is_a_warning() {
    const OFF: Duration = Duration::from_secs(300);
    let said = doctor_of_bucket(|now| now, &[]);
    assert!(has(&said, "ok", "s3://bucket: clock: this clock and the server's agree"), "{said}");
    for (said, order) in [
        (doctor_of_bucket(|now| now + OFF, &[]), "behind"),
        (doctor_of_bucket(|now| now - OFF, &[]), "ahead of"),
    ] {
        assert!(has(&said, "warning", "s3://bucket: clock: this clock is "), "{said}");
        let (seconds, rest) = said.split_once("this clock is ").unwrap().1.split_once(" s ").unwrap();
        // The header has whole seconds, and the answer takes time.
        assert!((270..=330).contains(&seconds.parse().unwrap()), "{said}");
        let advice = "set the clock, as by `timedatectl set-ntp true`";
        assert!(rest.starts_with(&format!("{order} the server's: {advice}\n")), "{said}");
    }
    // Nothing is signed for a server to compare its clock with.
    let said = doctor_of_bucket(|now| now + 10 * OFF, &["--anonymous"]);
    assert!(has(&said, "warning", "s3://bucket: clock: this clock is "), "{said}");
    let said = doctor(&[&server("ETag: \"x\"\r\nDate: Thu, 26 Nov 2015 12:00:00 GMT\r\n", true)]);
    assert!(has(&said, "warning", "clock: this clock is "), "{said}");
}

#[test]
fn the_source_of_credentials_is_told() {
    let said = doctor_of_bucket(|now| now, &[]);
    let words = "s3://bucket: credentials: they come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
    assert!(has(&said, "ok", words), "{said}");
    let said = doctor_of_bucket(|now| now, &["--anonymous"]);
    assert!(has(&said, "ok", "credentials: none are sent, as --anonymous says"), "{said}");
    let said = doctor(&[&server("ETag: \"x\"\r\n", true).replace("http://", "http://user:secret@")]);
    let words = "credentials: they come from the URL, --header-file or ~/.netrc";
    assert!(has(&said, "ok", words) && !said.contains("secret"), "{said}");
}

#[test]
fn an_address_that_nobody_listens_to_is_a_fault() {
    let said = doctor(&["http://127.0.0.1:1/file.bin"]);
    assert!(has(&said, "fault", "http://127.0.0.1:1/file.bin: reach: "), "{said}");
}

#[test]
fn json_has_the_level_the_url_the_check_and_the_message() {
    let source = tempfile::tempdir().unwrap();
    fs::write(source.path().join("hello"), "hello").unwrap();
    let missing = source.path().join("missing");
    let said = doctor(&["--json", source.path().to_str().unwrap(), missing.to_str().unwrap()]);
    for key in [
        "\"level\": \"ok\"",
        "\"check\": \"device\"",
        "\"check\": \"read\"",
        "\"message\": \"it can be read\"",
        "\"level\": \"fault\"",
        "\"check\": \"reach\"",
    ] {
        assert!(said.contains(key), "{key} is not in {said}");
    }
    assert!(said.contains(&format!("\"url\": \"{}\"", source.path().display())), "{said}");
}
