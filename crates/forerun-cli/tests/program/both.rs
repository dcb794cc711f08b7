//! An object store in which a key is an object and begins other keys.

use std::fs;
use std::sync::{Arc, Mutex};

use rustix::process::Signal;
use tempfile::TempDir;

use super::answers::{reply, serve};
use super::support::{Foreground, cat, forerun};

/// The keys of the bucket. The bytes of each are its key.
const KEYS: [&str; 4] = ["data/a", "data/both", "data/both/x", "data/z/x"];

type Requests = Arc<Mutex<Vec<String>>>;

/// The endpoint of an S3 server, and the first lines of the requests that it got.
fn store() -> (String, Requests) {
    let requests = Requests::default();
    let seen = requests.clone();
    let address = serve(move |request| {
        let line = request.lines().next().unwrap();
        seen.lock().unwrap().push(line.to_owned());
        let target = line.split(' ').nth(1).unwrap();
        match target.strip_prefix("/bucket").unwrap() {
            list if list.contains("list-type=2") => reply("200 OK", "application/xml", &listed(list)),
            key => object(line, &key[1..]),
        }
    });
    (format!("http://{address}"), requests)
}

fn object(line: &str, key: &str) -> String {
    if !KEYS.contains(&key) {
        return "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned();
    }
    let dated = "Last-Modified: Sat, 21 Nov 2026 10:00:00 GMT\r\nETag: \"e\"";
    let len = key.len();
    if line.starts_with("HEAD") {
        return format!("HTTP/1.1 200 OK\r\n{dated}\r\nContent-Length: {len}\r\n\r\n");
    }
    let range = format!("Content-Range: bytes 0-{}/{len}", len - 1);
    format!("HTTP/1.1 206 Part\r\n{dated}\r\n{range}\r\nContent-Length: {len}\r\n\r\n{key}")
}

/// The page of the listing that the query `list` asks for.
fn listed(list: &str) -> String {
    let value = |name: &str| {
        let (_, value) = list.split_once(&format!("{name}="))?;
        Some(value.split('&').next().unwrap().replace("%2F", "/"))
    };
    let prefix = value("prefix").unwrap_or_default();
    let (mut entries, mut last) = (Vec::new(), "");
    for (key, below) in KEYS.iter().filter_map(|key| Some((key, key.strip_prefix(&prefix)?))) {
        match below.split_once('/').filter(|_| value("delimiter").is_some()) {
            Some((name, _)) if name == last => {}
            Some((name, _)) => {
                last = name;
                entries.push(format!("<CommonPrefixes><Prefix>{prefix}{name}/</Prefix></CommonPrefixes>"));
            }
            None => entries.push(format!(
                "<Contents><Key>{key}</Key><LastModified>2026-11-21T10:00:00.000Z</LastModified>\
                 <ETag>\"e\"</ETag><Size>{}</Size></Contents>",
                key.len()
            )),
        }
    }
    let count = value("max-keys").map_or(entries.len(), |most| most.parse().unwrap());
    let more = if count < entries.len() { "<NextContinuationToken>t</NextContinuationToken>" } else { "" };
    entries.truncate(count);
    format!("<ListBucketResult><Name>bucket</Name>{more}{}</ListBucketResult>", entries.concat())
}

fn mount(endpoint: &str, url: &str) -> (Foreground, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let mut command = forerun();
    command.args(["mount", "--anonymous", "--endpoint", endpoint, url]);
    let mount = Foreground::start(command.arg(directory.path()), directory.path());
    (mount, directory)
}

fn names(directory: &std::path::Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_directory_hides_the_object_of_its_name_and_the_log_says_so_once() {
    let (endpoint, requests) = store();
    let (mount, directory) = mount(&endpoint, "s3://bucket/data");
    let at = |path: &str| directory.path().join(path);
    // No listing of the parent came before.
    assert_eq!(cat(&at("both/x")), b"data/both/x");
    assert!(!requests.lock().unwrap().iter().any(|line| line.contains("delimiter=")), "{requests:?}");
    assert_eq!(names(directory.path()), ["a", "both", "z"]);
    assert!(fs::metadata(at("both")).unwrap().is_dir());
    assert_eq!(cat(&at("a")), b"data/a");
    assert_eq!(names(&at("both")), ["x"]);
    mount.signal(Signal::TERM);
    let said = mount.end().1;
    let is_first = |line: &&str| line.contains("a directory hides the object") && !line.contains("(said ");
    let lines: Vec<_> = said.lines().filter(is_first).collect();
    assert!(lines.len() == 1 && lines[0].contains("key=both"), "{said}");
}

#[test]
fn the_hidden_object_and_the_directory_have_urls_of_their_own() {
    let (endpoint, _) = store();
    let (object, directory) = mount(&endpoint, "s3://bucket/data/both");
    assert_eq!(names(directory.path()), ["both"]);
    assert_eq!(cat(&directory.path().join("both")), b"data/both");
    drop(object);
    let (_below, directory) = mount(&endpoint, "s3://bucket/data/both/");
    assert_eq!(cat(&directory.path().join("x")), b"data/both/x");
}
