//! Images of a Ceph cluster that `tests/ceph/one-node.sh` starts. `make ceph` runs these tests.
//!
//! They are ignored otherwise: they need the daemons of Ceph.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use forerun_backend::{
    Backend, ConnectOptions, Connected, Entry, Environment, ErrorKind, RetryOptions, conformance, connect,
};
use futures::StreamExt;
use tokio::sync::Mutex;

/// One test stops the cluster for a while.
static CLUSTER: Mutex<()> = Mutex::const_new(());

const LARGE_BYTES: u32 = 9_000_011;

/// Runs `program` of Ceph as the administrator, and returns its output.
fn run(program: &str, arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{program}: {error}; use `make ceph`"));
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{program} {arguments:?}: {said}");
    // A program that reads nothing closes its input.
    let _ = writer.join().unwrap();
    output.stdout
}

fn rbd(arguments: &[&str]) -> Vec<u8> {
    run("rbd", arguments, b"")
}

fn import(image: &str, bytes: &[u8]) {
    run("rbd", &["import", "--no-progress", "--object-size", "1M", "-", image], bytes);
}

/// A namespace of the pool for one test.
fn namespace(name: &str) -> String {
    let namespace = format!("images/{name}");
    rbd(&["namespace", "create", &namespace]);
    namespace
}

fn large() -> Bytes {
    (0..LARGE_BYTES).map(|at| (at.wrapping_mul(2_654_435_761) >> 23) as u8).collect()
}

fn options() -> ConnectOptions {
    ConnectOptions::default().with_retry(RetryOptions::default().with_attempts(1))
}

/// Connects to `place` as the client that may only read.
async fn reader(place: &str) -> Connected {
    connect(&format!("rbd://{place}?id=reader"), &options()).await.unwrap()
}

async fn read(backend: &dyn Backend, entry: &Entry) -> Vec<u8> {
    conformance::fetch(backend, entry, 0..entry.size).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make ceph"]
async fn a_pool_conforms() {
    let _cluster = CLUSTER.lock().await;
    let tree: Vec<(String, Bytes)> = [
        ("readme.txt", Bytes::from_static(b"hello, reader\n")),
        ("large.bin", large()),
        ("one", Bytes::from_static(b"1")),
        ("with space", large().slice(..70_000)),
        ("größe ☃", Bytes::from_static(b"unicode")),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .into();
    tree.iter().for_each(|(name, bytes)| import(&format!("images/{name}"), bytes));
    rbd(&["create", "--size", "0", "images/empty"]);
    let tree: Vec<_> = [("empty".to_owned(), Bytes::new())].into_iter().chain(tree).collect();
    conformance::check(reader("images").await.backend, &tree).await;
    conformance::check(reader("images/").await.backend, &tree).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make ceph"]
async fn an_image_and_its_snapshot_have_the_bytes_of_rbd_export() {
    let _cluster = CLUSTER.lock().await;
    let space = namespace("snapshots");
    let (image, snapshot) = (format!("{space}/disk"), format!("{space}/disk@monday"));
    import(&image, &large());
    rbd(&["snap", "create", "--no-progress", &snapshot]);
    let write = ["bench", "--io-type", "write", "--io-size", "64K", "--io-total", "1M", &image];
    rbd(&write);
    let exported = |name: &str| rbd(&["export", "--no-progress", name, "-"]);
    assert!(exported(&image) != large(), "the benchmark wrote nothing");
    for place in [&image, &snapshot] {
        let Connected { backend, object, .. } = reader(place).await;
        let name = object.unwrap();
        let entry = backend.stat(&name).await.unwrap();
        assert!(entry.modified.is_some());
        assert!(read(&*backend, &entry).await == exported(place), "{place}");
        assert_eq!(backend.url(), format!("rbd://{place}"));
        let bytes = if *place == snapshot { large() } else { exported(&image).into() };
        conformance::check(backend, &[(name, bytes)]).await;
    }
    // A clone has blocks of its parent.
    rbd(&["snap", "protect", &snapshot]);
    let clone = format!("{space}/clone");
    rbd(&["clone", &snapshot, &clone]);
    let backend = reader(&format!("{space}/")).await.backend;
    let listed: Vec<String> = backend.list("").await.unwrap().into_iter().map(|entry| entry.path).collect();
    assert_eq!(listed, ["clone", "disk"]);
    assert!(read(&*backend, &backend.stat("clone").await.unwrap()).await == large());
    assert!(read(&*backend, &backend.stat("disk@monday").await.unwrap()).await == large());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make ceph"]
async fn a_broken_image_is_left_out_of_the_listing_and_names_its_error() {
    let _cluster = CLUSTER.lock().await;
    let space = namespace("broken");
    for name in ["broken", "whole"] {
        import(&format!("{space}/{name}"), b"bytes");
    }
    let info = String::from_utf8(rbd(&["info", &format!("{space}/broken")])).unwrap();
    let id = info.lines().find_map(|line| line.trim().strip_prefix("id: ")).unwrap();
    // The size has eight bytes otherwise.
    let (header, set) = (format!("rbd_header.{id}"), ["-p", "images", "-N", "broken", "setomapval"]);
    run("rados", &[&set[..], &[&header, "size", "?"]].concat(), b"");
    let backend = reader(&format!("{space}/")).await.backend;
    let listed: Vec<String> = backend.list("").await.unwrap().into_iter().map(|entry| entry.path).collect();
    assert_eq!(listed, ["whole"]);
    let error = backend.stat("broken").await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Permanent, "{error}");
    assert!(error.message.contains("rbd://images/broken/broken"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make ceph"]
async fn a_resized_or_removed_image_is_noticed() {
    let _cluster = CLUSTER.lock().await;
    let space = namespace("changes");
    let image = format!("{space}/disk");
    import(&image, &large());
    let backend = reader(&format!("{space}/")).await.backend;
    let entry = backend.stat("disk").await.unwrap();
    rbd(&["resize", "--no-progress", "--size", "64M", &image]);
    // A read trusts what was found out about the image in the last two seconds.
    tokio::time::sleep(Duration::from_millis(2100)).await;
    let error = conformance::fetch(&*backend, &entry, 0..10).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Changed, "{error}");
    let error = conformance::fetch(&*backend, &entry, 0..10).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Changed, "and it stays so: {error}");
    let entry = backend.stat("disk").await.unwrap();
    assert_eq!(entry.size, 64 << 20);
    assert!(read(&*backend, &entry).await.starts_with(&large()));
    rbd(&["rm", "--no-progress", &image]);
    // As above.
    tokio::time::sleep(Duration::from_millis(2100)).await;
    let error = conformance::fetch(&*backend, &entry, 0..10).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound, "{error}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make ceph"]
async fn cancelled_fetches_leave_the_others_right() {
    let _cluster = CLUSTER.lock().await;
    let space = namespace("cancelled");
    import(&format!("{space}/disk"), &large());
    for _ in 0..5 {
        let backend = reader(&format!("{space}/")).await.backend;
        let entry = backend.stat("disk").await.unwrap();
        for start in 0..32 {
            let fetch = backend.fetch("disk", &entry.version, start * 1000..entry.size);
            // Polled once and dropped: the reads are on their way.
            let _ = futures::poll!(fetch);
            let mut body = backend.fetch("disk", &entry.version, start..entry.size).await.unwrap();
            let first = body.next().await.unwrap().unwrap();
            assert!(first == large_part(start, first.len()), "the first piece at {start}");
        }
        // The connection ends with reads on their way.
    }
}

fn large_part(start: u64, len: usize) -> Vec<u8> {
    let start = u32::try_from(start).unwrap();
    (start..).take(len).map(|at| (at.wrapping_mul(2_654_435_761) >> 23) as u8).collect()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make ceph"]
async fn a_cluster_that_stalls_is_an_error_and_comes_back() {
    let _cluster = CLUSTER.lock().await;
    let space = namespace("stalled");
    import(&format!("{space}/disk"), &large());
    let conf = tempfile::NamedTempFile::new().unwrap();
    let settings = std::fs::read_to_string(std::env::var("CEPH_CONF").unwrap()).unwrap();
    std::fs::write(&conf, format!("{settings}rados osd op timeout = 2\n")).unwrap();
    let url = format!("rbd://{space}/?id=reader&conf={}", conf.path().display());
    let backend = connect(&url, &options()).await.unwrap().backend;
    let entry = backend.stat("disk").await.unwrap();
    let osd = std::env::var("OSD_PID").unwrap();
    run("kill", &["-STOP", &osd], b"");
    let (stalled, listed) = tokio::join!(conformance::fetch(&*backend, &entry, 0..10), backend.list(""));
    run("kill", &["-CONT", &osd], b"");
    assert_eq!(listed.unwrap_err().kind, ErrorKind::Unreachable, "not an empty pool");
    let error = stalled.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unreachable, "{error}");
    assert!(error.message.contains("ceph -s"), "{error}");
    let retried = connect(&url, &ConnectOptions::default()).await.unwrap().backend;
    assert!(read(&*retried, &entry).await == large());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make ceph"]
async fn a_refusal_says_what_is_missing() {
    let _cluster = CLUSTER.lock().await;
    let wrong_key = tempfile::NamedTempFile::new().unwrap();
    let key = "[client.reader]\nkey = AQBXV1dnAAAAABAAF6CSr1pwxFWkbZWFwKw5jQ==\n";
    std::fs::write(&wrong_key, key).unwrap();
    let settings = std::fs::read_to_string(std::env::var("CEPH_CONF").unwrap()).unwrap();
    let rekeyed = tempfile::NamedTempFile::new().unwrap();
    let other = format!("keyring = {}", wrong_key.path().display());
    let of_client = settings.lines().map(|line| if line.starts_with("keyring") { &other } else { line });
    std::fs::write(&rekeyed, of_client.map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    let away = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(
        &away,
        "[global]\nmon host = [v2:127.0.0.1:1]\nclient mount timeout = 1\nauth client required = none\n",
    )
    .unwrap();
    let rekeyed = format!("rbd://images/?id=reader&conf={}", rekeyed.path().display());
    let away = format!("rbd://images/?conf={}", away.path().display());
    for (url, kind, said) in [
        ("rbd://no-such-pool/?id=reader", ErrorKind::NotFound, "no-such-pool"),
        ("rbd://images/no-such-image?id=reader", ErrorKind::NotFound, "no-such-image"),
        ("rbd://images/?id=nobody", ErrorKind::Denied, "client.nobody"),
        ("rbd://images/?conf=/no/such/file", ErrorKind::Invalid, "/no/such/file"),
        (&rekeyed, ErrorKind::Denied, "keyring"),
        (&away, ErrorKind::Unreachable, "ceph -s"),
    ] {
        let error = connect(url, &options()).await.map(|_| ()).unwrap_err();
        assert_eq!(error.kind, kind, "{url}: {error}");
        assert!(error.message.contains(said), "{url}: {error}");
    }
    let nowhere = options().with_environment(Environment::of([("CEPH_CONF", "/no/such/file")]));
    let error = connect("rbd://images/", &nowhere).await.map(|_| ()).unwrap_err();
    assert!(error.message.contains("/no/such/file"), "{error}");
}
