//! `--metrics` of a mount and of servers.

mod exposition;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::nbd_client::Client;
use super::serve::{address, files, get, named, serve};
use super::serving::Serving;
use super::support::{DEADLINE, Foreground, cat, forerun, send};
use super::{nfs, nfs_client};
use exposition::Exposition;

const DURATION_COUNT: &str = "forerun_request_duration_seconds_count";

/// The address of the metrics in a greeting.
pub(crate) fn metrics_of(greeting: &str) -> String {
    let (_, rest) = greeting.split_once(", metrics at http://").unwrap_or_else(|| panic!("{greeting}"));
    rest.trim_end().trim_end_matches(')').to_owned()
}

pub(crate) fn scrape(address: &str) -> Exposition {
    let (status, body) = get(address, "/metrics", "");
    assert_eq!(status, "HTTP/1.1 200 OK");
    Exposition::parse(&String::from_utf8(body).unwrap())
}

/// The status and the text of a probe at the Unix socket `path`; none if nothing listens there.
fn probe(path: &Path, target: &str) -> Option<(String, String)> {
    let mut stream = UnixStream::connect(path).ok()?;
    write!(stream, "GET {target} HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    Some((head.split(' ').nth(1).unwrap().to_owned(), body.to_owned()))
}

fn is(status: &str, text: &str) -> Option<(String, String)> {
    Some((status.to_owned(), text.to_owned()))
}

/// Waits until `check` holds.
#[track_caller]
fn wait_for(what: &str, mut check: impl FnMut() -> bool) {
    let until = Instant::now() + DEADLINE;
    while !check() {
        assert!(Instant::now() < until, "{what} does not come");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_mount_counts_what_programs_read() {
    let [source, directory] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    fs::write(source.path().join("a.bin"), vec![1; 1 << 20]).unwrap();
    let mut command = forerun();
    command.args(["mount", "--metrics", "127.0.0.1:0", "--policy", "none", "--memory", "16MiB"]);
    let mount = Foreground::start(command.arg(source.path()).arg(directory.path()), directory.path());
    let address = metrics_of(&mount.greeting);
    assert_eq!(get(&address, "/readyz", ""), ("HTTP/1.1 200 OK".to_owned(), b"ready\n".to_vec()));
    let before = scrape(&address);
    assert_eq!(before.sum("forerun_read_bytes_total", None), 0);
    assert_eq!(cat(&directory.path().join("a.bin")).len(), 1 << 20);

    let after = scrape(&address);
    assert_eq!(after.sum("forerun_read_bytes_total", None), 1 << 20);
    assert_eq!(after.sum("forerun_fetch_bytes_total", Some(("cause", "demand"))), 1 << 20);
    assert_eq!(after.sum("forerun_fetch_bytes_total", Some(("cause", "readahead"))), 0);
    let requests = |operation| after.sum(DURATION_COUNT, Some(("operation", operation)));
    assert_eq!((requests("open"), requests("ioctl")), (1, 0));
    assert_eq!(requests("read"), after.sum("forerun_reads_total", None));
    assert!(requests("read") >= 1 && requests("lookup") >= 1, "{after:?}");
    assert_eq!(after.sum("forerun_request_errors_total", Some(("operation", "read"))), 0);
    let memory = |what| after.sum(&format!("forerun_memory_{what}_bytes"), None);
    assert_eq!((memory("limit"), memory("used"), memory("lent")), (16 << 20, 1 << 20, 0));
    assert_eq!(after.sum("forerun_fetches_in_flight", None), 0);
    assert!(after.by_label("forerun_backend_requests_total").is_empty(), "it is a local directory");
    mount.signal(Signal::TERM);
    assert!(mount.end().0.success());
}

#[test]
fn an_nbd_server_counts_reads_and_refusals() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.img"), vec![1; 100_000]).unwrap();
    let socket = folder.path().join("nbd");
    let mut command = forerun();
    command.args(["nbd", "--metrics", "127.0.0.1:0", "--unix"]).arg(&socket);
    let serving = Serving::start(command.arg(folder.path().join("a.img")));
    let address = metrics_of(&serving.greeting);
    let mut client = Client::unix(&socket);
    client.go("a.img");
    assert!(client.read(0, 5000).is_ok() && client.read(90_000, 10_000).is_ok());
    assert!(client.read(90_000, 20_000).is_err(), "it is past the end");
    let scraped = scrape(&address);
    assert_eq!(scraped.sum("forerun_read_bytes_total", None), 15_000);
    let counted = [("read", 2), ("other", 1)].map(|(name, count)| (name.to_owned(), count));
    assert_eq!(scraped.by_label(DURATION_COUNT), BTreeMap::from(counted));
    assert_eq!(scraped.by_label("forerun_request_errors_total"), BTreeMap::from([("other".to_owned(), 1)]));
    assert_eq!(serving.end().0, Some(0));
}

#[test]
fn a_server_counts_calls_of_nfs_and_requests_of_http_apart() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.bin"), vec![1; 100_000]).unwrap();
    let mut command = forerun();
    command.args(["serve", "--metrics", "127.0.0.1:0", "--http", "127.0.0.1:0", "--nfs", "127.0.0.1:0"]);
    let serving = Serving::start(command.arg(format!("data={}", folder.path().display())));
    let address = metrics_of(&serving.greeting);
    let mut client = nfs_client::Client::new(nfs::address(&serving).parse().unwrap());
    let file = client.open("a.bin");
    let mut other = file.clone();
    other.data.0.to_mut()[0] ^= 1;
    assert!(client.read(&file, 0, 5000).is_ok() && client.read(&other, 0, 5000).is_err());
    let counts = scrape(&address).by_label(DURATION_COUNT);
    assert_eq!((counts.get("nfs_read"), counts.get("get")), (Some(&2), None), "{counts:?}");
    let errors = scrape(&address).by_label("forerun_request_errors_total");
    assert_eq!(errors.get("nfs_read"), Some(&1), "{errors:?}");
    let http = serving.greeting.split("http://").nth(1).unwrap().split(' ').next().unwrap();
    assert!(get(http, "/data/a.bin", "").0.contains("200"));
    assert_eq!(scrape(&address).by_label(DURATION_COUNT).get("get"), Some(&1));
    assert_eq!(serving.end().0, Some(0));
}

/// One server reads from the other, whose log has each request.
#[test]
fn requests_to_a_store_are_counted_by_status() {
    let folder = files();
    let (data, log) = (named("data", &folder.path().join("data")), folder.path().join("log"));
    let store = Serving::start(&mut serve(&["--access-log", log.to_str().unwrap()], &[&data]));
    let copy = format!("copy=http://{}/-/data/", address(&store));
    let serving = Serving::start(&mut serve(&["--metrics", "127.0.0.1:0", "--policy", "none"], &[&copy]));
    let (at, metrics) = (address(&serving), metrics_of(&serving.greeting));
    assert!(get(&at, "/copy/a.bin", "").1 == vec![1; 100_000]);
    assert_eq!(get(&at, "/-/copy/sub/b.txt", "").1, b"hello");
    assert!(get(&at, "/copy/none", "").0.contains("404"));

    let scraped = scrape(&metrics);
    assert_eq!(scraped.sum("forerun_read_bytes_total", None), 100_005);
    let counted = BTreeMap::from([("get".to_owned(), 3)]);
    assert_eq!(scraped.by_label(DURATION_COUNT), counted);
    assert_eq!(scraped.by_label("forerun_request_errors_total"), BTreeMap::from([("get".to_owned(), 1)]));
    let counted = scraped.by_label("forerun_backend_requests_total");
    assert_eq!(scraped.by_label("forerun_backend_first_byte_seconds_count"), counted);
    assert!(counted["206"] >= 2 && counted["404"] >= 1, "{counted:?}");
    wait_for("the log of all requests", || {
        let mut logged = BTreeMap::<String, u64>::new();
        for line in fs::read_to_string(&log).unwrap().lines() {
            *logged.entry(line.split("\" ").nth(1).unwrap()[..3].to_owned()).or_default() += 1;
        }
        logged == counted
    });
    assert_eq!(get(&metrics, "/healthz", "").1, b"ok\n");
    assert!(get(&metrics, "/metric", "").0.contains("404"));
    let mut stream = TcpStream::connect(&metrics).unwrap();
    write!(stream, "DELETE /metrics HTTP/1.0\r\n\r\n").unwrap();
    let mut refused = String::new();
    stream.read_to_string(&mut refused).unwrap();
    assert!(refused.starts_with("HTTP/1.0 405 ") && refused.contains("allow: GET, HEAD"), "{refused}");
    for server in [serving, store] {
        assert_eq!(server.end().0, Some(0));
    }
    check_documents(&scraped);
}

/// The table in docs/metrics.md has each metric with its type and its labels, and the dashboard no others.
fn check_documents(scraped: &Exposition) {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let table = fs::read_to_string(docs.join("metrics.md")).unwrap();
    let quoted =
        |cell: &str| -> BTreeSet<String> { cell.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    let mut documented = BTreeMap::new();
    for row in table.lines().filter(|line| line.starts_with("| `forerun_")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, name, kind, labels, unit, meaning, _] = cells[..] else { panic!("{row}") };
        assert!(!unit.is_empty() && !meaning.is_empty(), "{row}");
        documented.insert(name.trim_matches('`').to_owned(), (kind.to_owned(), quoted(labels)));
    }
    let exported = scraped.types.iter().map(|(name, kind)| {
        let labels = scraped.labels.get(name).cloned().unwrap_or_default();
        (name.clone(), (kind.clone(), labels))
    });
    assert_eq!(documented, exported.collect());

    let dashboard = fs::read_to_string(docs.join("grafana/forerun.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&dashboard).unwrap();
    let mut shown = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().unwrap() {
            let expression = target["expr"].as_str().unwrap();
            let words = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            for name in words.filter(|word| word.starts_with("forerun_")) {
                let of_histogram =
                    ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
                let family = of_histogram.unwrap_or(name);
                let kind = scraped.types.get(family).unwrap_or_else(|| panic!("{name} in {expression}"));
                assert_eq!(of_histogram.is_some(), kind == "histogram", "{name} in {expression}");
                shown.insert(family.to_owned());
            }
        }
    }
    let missing: Vec<&String> = scraped.types.keys().filter(|name| !shown.contains(*name)).collect();
    assert!(missing.is_empty(), "no panel shows {missing:?}");
}

#[test]
fn probes_say_that_a_mount_starts_and_that_a_server_ends() {
    let folder = tempfile::tempdir().unwrap();
    let (socket, target) = (folder.path().join("metrics"), folder.path().join("mnt"));
    let at = format!("unix:{}", socket.display());
    fs::create_dir(&target).unwrap();
    // A store that says nothing.
    let store = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut mount = forerun();
    mount.args(["mount", "--metrics", &at, &format!("http://{}/", store.local_addr().unwrap())]);
    let mut mount = mount.arg(&target).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the answer of a mount", || probe(&socket, "/readyz") == is("503", "starting\n"));
    assert_eq!(probe(&socket, "/healthz"), is("200", "ok\n"));
    mount.kill().unwrap();
    mount.wait().unwrap();

    // A client that does not read its answer holds the end up. The socket of the killed mount is left.
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::File::create(data.join("large")).unwrap().set_len(1 << 30).unwrap();
    let serving = Serving::start(&mut serve(&["--metrics", &at], &[data.to_str().unwrap()]));
    assert_eq!(probe(&socket, "/readyz"), is("200", "ready\n"));
    let mut client = TcpStream::connect(address(&serving)).unwrap();
    write!(client, "GET /-/data/large HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    client.read_exact(&mut [0; 100]).unwrap();
    send(serving.child.id(), Signal::TERM);
    wait_for("the end", || probe(&socket, "/readyz") == is("503", "draining\n"));
    assert_eq!(probe(&socket, "/healthz"), is("200", "ok\n"));
    drop(client);
    assert_eq!(serving.end().0, Some(0));
    assert!(!socket.exists());
}

#[test]
fn an_address_that_is_taken_is_an_error() {
    let (folder, taken) = (tempfile::tempdir().unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let at = taken.local_addr().unwrap().to_string();
    let refused = super::support::output(serve(&["--metrics", &at], &[]).arg(folder.path()));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(1) && said.contains("choose another"), "{said}");
}
