//! Images of a Ceph cluster that `tests/ceph/one-node.sh` starts. `make ceph` runs these tests.
//!
//! They are ignored otherwise: they need the daemons of Ceph.

use std::error::Error as _;
use std::io::Write;
use std::ops::Range;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use forerun_backend::{
    Backend, ConnectOptions, Connected, Entry, Environment, Error, ErrorKind, RetryOptions, Writable,
    Zeroing, conformance, connect,
};
use futures::{StreamExt, TryStreamExt};
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

/// Opens `image` for writes, as the administrator.
async fn writer(image: &str) -> Result<Arc<dyn Writable>, Error> {
    open_writable(&format!("rbd://{image}")).await
}

async fn open_writable(url: &str) -> Result<Arc<dyn Writable>, Error> {
    let Connected { backend, object, .. } = connect(url, &options()).await.unwrap();
    let entry = backend.stat(&object.unwrap()).await.unwrap();
    Ok(backend.open_writable(&entry.path, &entry.version).await?.expect("images can be written"))
}

async fn bytes_of(image: &dyn Writable, extent: Range<u64>) -> Vec<u8> {
    let pieces: Vec<Bytes> = image.fetch(extent).await.unwrap().try_collect().await.unwrap();
    pieces.concat()
}

/// A step of `a_written_image_equals_a_model`: one operation in each part of the image, all at once.
async fn change(
    image: &dyn Writable,
    model: &mut [u8],
    parts: usize,
    random: &mut impl FnMut(usize) -> usize,
) {
    let part_bytes = model.len() / parts;
    let operations = model.chunks_mut(part_bytes).take(parts).enumerate().map(|(part, bytes)| {
        let len_max = [20, 5000, 300_000][random(3)];
        let len = 1 + random(len_max);
        let begin = random(part_bytes - len);
        let extent = (part * part_bytes + begin) as u64..(part * part_bytes + begin + len) as u64;
        let (kind, fill, bytes) = (random(6), random(256) as u8, &mut bytes[begin..][..len]);
        async move {
            match kind {
                0 => {
                    image.discard(extent.clone()).await.unwrap();
                    let found = bytes_of(image, extent).await;
                    let is_right =
                        found.iter().zip(&*bytes).all(|(found, before)| [0, *before].contains(found));
                    assert!(is_right, "a discarded byte is neither a zero nor as before");
                    bytes.copy_from_slice(&found);
                }
                1 | 2 => {
                    let zeroing = Zeroing { has_space: kind == 1, is_fast: kind == 2 };
                    image.write_zeroes(extent, zeroing).await.unwrap();
                    bytes.fill(0);
                }
                _ => {
                    let written: Vec<u8> = (0..len).map(|at| (at as u8).wrapping_mul(31) ^ fill).collect();
                    bytes.copy_from_slice(&written);
                    image.write(extent.start, written.into()).await.unwrap();
                }
            }
        }
    });
    futures::future::join_all(operations.collect::<Vec<_>>()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make ceph"]
async fn a_written_image_equals_a_model() {
    let _cluster = CLUSTER.lock().await;
    let image = format!("{}/disk", namespace("written"));
    import(&image, &large());
    let written = writer(&image).await.unwrap();
    let (mut model, mut state) = (large().to_vec(), 1_u64);
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..60 {
        change(&*written, &mut model, 8, &mut random).await;
        let begin = random(model.len() - 1);
        let len = 1 + random((model.len() - begin).min(2_000_000));
        let found = bytes_of(&*written, begin as u64..(begin + len) as u64).await;
        assert!(found == model[begin..][..len], "{begin} {len}");
    }
    written.flush().await.unwrap();
    assert!(rbd(&["export", "--no-progress", &image, "-"]) == model, "as other clients see it");
    // The image is open until its last operation ends, even if nobody waits for that.
    for at in 0..100_u64 {
        let bytes = Bytes::from(vec![at as u8; 5000]);
        model[at as usize * 5000..][..5000].fill(at as u8);
        let _ = futures::poll!(written.write(at * 5000, bytes));
    }
    written.flush().await.unwrap();
    drop(written);
    assert!(rbd(&["export", "--no-progress", &image, "-"]) == model, "writes that nobody awaited");
    let zeroing = Zeroing { has_space: true, is_fast: true };
    let again = writer_after_another(&image).await;
    let error = again.write_zeroes(0..10, zeroing).await.unwrap_err();
    let system = error.source().and_then(|source| source.downcast_ref::<std::io::Error>()).unwrap();
    assert_eq!(system.kind(), std::io::ErrorKind::Unsupported, "{error}");
}

/// Opens `image` once the writer before has closed it.
async fn writer_after_another(image: &str) -> Arc<dyn Writable> {
    for _ in 0..100 {
        if let Ok(written) = writer(image).await {
            return written;
        }
        // Images are closed on a thread of their own.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{image} stays locked");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make ceph"]
async fn an_image_that_cannot_be_written_says_why() {
    let _cluster = CLUSTER.lock().await;
    let space = namespace("unwritable");
    let disk = format!("{space}/disk");
    import(&disk, b"old bytes");
    rbd(&["snap", "create", "--no-progress", &format!("{disk}@monday")]);
    rbd(&["create", "--size", "1M", "--image-feature", "layering", &format!("{space}/unlocked")]);
    let first = writer(&disk).await.unwrap();
    for (place, kind, said) in [
        ("disk@monday", ErrorKind::Invalid, "is a snapshot"),
        ("unlocked", ErrorKind::Invalid, "rbd feature enable"),
        ("disk", ErrorKind::Denied, "another client has its lock"),
        ("disk?id=reader", ErrorKind::Denied, "osd 'profile rbd'"),
    ] {
        let error = open_writable(&format!("rbd://{space}/{place}")).await.unwrap_err();
        assert_eq!(error.kind, kind, "{place}: {error}");
        assert!(error.message.contains(said), "{place}: {error}");
    }
    // The first one still writes.
    first.write(0, Bytes::from_static(b"new")).await.unwrap();
    assert_eq!(rbd(&["export", "--no-progress", &disk, "-"]), b"new bytes");
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
