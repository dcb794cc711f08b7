//! Clients of others read from `forerun nbd`: libnbd's tools, QEMU's and nbdkit. `make nbd-programs` installs
//! them and runs this; elsewhere it is left out.

mod bench;
mod guest;
mod images;
#[allow(dead_code, reason = "each test program uses its part")]
#[path = "../program/serving.rs"]
mod serving;
#[allow(dead_code, reason = "each test program uses its part")]
#[path = "../support/mod.rs"]
mod support;
mod tls;
mod writes;

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serving::Serving;
use support::program::{forerun, output_within};
use support::{Store, pattern};
use tempfile::TempDir;

const DEADLINE: Duration = Duration::from_secs(120);
const MIB: usize = 1 << 20;
/// An image has twelve of these, and 4 KiB: the debug build of the bucket's server takes seconds for each MiB.
const FILE_UNIT: usize = 4 * MIB;
const BUCKET_UNIT: usize = MIB;

const fn size_of(unit: usize) -> usize {
    12 * unit + 4096
}

/// A process that is killed when dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server of an image.
struct Served {
    folder: TempDir,
    /// The same bytes as a file.
    image: PathBuf,
    unit: usize,
    server: Serving,
}

impl Served {
    /// Runs `server`, whose socket is still missing, as the server of `image` in `folder`.
    fn start((folder, image): (TempDir, PathBuf), unit: usize, mut server: Command) -> Served {
        let socket = folder.path().join("nbd");
        let server = Serving::start(server.arg("--unix").arg(&socket));
        Served { folder, image, unit, server }
    }

    /// Of a local file, with holes. Paths in `options` are relative to its folder.
    fn file(options: &[&str]) -> Served {
        let image = image(FILE_UNIT);
        let mut server = forerun();
        server.current_dir(image.0.path()).args(["nbd", "--memory", "32MiB"]).args(options).arg(&image.1);
        Served::start(image, FILE_UNIT, server)
    }

    /// Of an object in a bucket.
    fn bucket(store: &Store, options: &[&str]) -> Served {
        let image = image(BUCKET_UNIT);
        fs::copy(&image.1, store.at("disk.img")).unwrap();
        let mut server = forerun();
        server.current_dir(image.0.path()).args(["nbd", "--memory", "32MiB"]).args(options);
        server.args(["--endpoint", &store.endpoint, "s3://bucket/disk.img"]);
        server.env("AWS_ACCESS_KEY_ID", "id").env("AWS_SECRET_ACCESS_KEY", "key");
        Served::start(image, BUCKET_UNIT, server)
    }

    fn uri(&self) -> String {
        format!("nbd+unix:///disk.img?socket={}", self.at("nbd").display())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// A file with bytes, then a hole, then bytes.
fn image(unit: usize) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("disk.img");
    let file = fs::File::create(&path).unwrap();
    file.set_len(size_of(unit) as u64).unwrap();
    file.write_all_at(&pattern(5 * unit, 1), 0).unwrap();
    file.write_all_at(&pattern(2 * unit + 4096, 2), 10 * unit as u64).unwrap();
    file.sync_all().unwrap();
    (folder, path)
}

fn wait_for(socket: &Path) {
    let began = Instant::now();
    while std::os::unix::net::UnixStream::connect(socket).is_err() {
        assert!(began.elapsed() < Duration::from_secs(30), "nothing listens at {}", socket.display());
        // A process of another program does not announce that it listens.
        thread::sleep(Duration::from_millis(20));
    }
}

/// Runs a program, which must succeed; what it printed.
fn run(program: &str, arguments: &[&str]) -> String {
    let done = output_within(DEADLINE, Command::new(program).args(arguments));
    let [out, err] = [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(done.status.success(), "{program} {arguments:?}: {out}{err}");
    out
}

#[track_caller]
fn assert_same(a: &Path, b: &Path) {
    let [a, b] = [a, b].map(|path| path.to_str().unwrap());
    run("cmp", &[a, b]);
}

/// Every client reads the same bytes.
fn check_all(served: &Served) {
    let (uri, image) = (served.uri(), served.image.to_str().unwrap());
    let copy = served.at("copy");
    let copied = copy.to_str().unwrap();
    for options in [&["--connections=1"][..], &["--connections=4"], &["--connections=4", "--synchronous"]] {
        run("nbdcopy", &[options, &[uri.as_str(), copied]].concat());
        assert_same(&copy, &served.image);
        fs::remove_file(&copy).unwrap();
    }
    run("qemu-img", &["convert", "-f", "raw", "-O", "raw", "-m", "8", "-W", &uri, copied]);
    assert_same(&copy, &served.image);
    run("qemu-img", &["compare", "-f", "raw", "-F", "raw", &uri, image]);
    let qcow = served.at("copy.qcow2");
    run("qemu-img", &["convert", "-f", "raw", "-O", "qcow2", &uri, qcow.to_str().unwrap()]);
    run("qemu-img", &["compare", "-f", "raw", "-F", "qcow2", &uri, qcow.to_str().unwrap()]);
    let info = run("qemu-img", &["info", "--output=json", &uri]);
    assert!(info.contains(&format!("\"virtual-size\": {}", size_of(served.unit))), "{info}");
    let (half, long) = (5 * served.unit, 8 * served.unit);
    let zeros = format!("read -P 0 {half} {half}");
    for read in ["read 0 4k", "read 1234567 1m", &format!("read 0 {long}"), &zeros] {
        let said = run("qemu-io", &["-r", "-f", "raw", "-c", read, &uri]);
        assert!(said.contains("ops") && !said.contains("failed"), "{read}: {said}");
    }
    check_nbdkit(served);
}

/// nbdkit's own client, which serves what it reads once more.
fn check_nbdkit(served: &Served) {
    let (again, copy) = (served.at("again"), served.at("copy-again"));
    let mut command = Command::new("nbdkit");
    command.args(["--foreground", "--unix"]).arg(&again).args(["nbd", &served.uri()]);
    let _nbdkit = Process(command.stderr(Stdio::null()).spawn().unwrap());
    wait_for(&again);
    let uri = format!("nbd+unix:///?socket={}", again.display());
    run("nbdcopy", &["--connections=4", &uri, copy.to_str().unwrap()]);
    assert_same(&copy, &served.image);
}

#[test]
#[ignore = "needs nbdkit, libnbd-bin and qemu-utils, which `make nbd-programs` installs"]
fn a_local_file_is_read_alike_by_all_clients() {
    let served = Served::file(&[]);
    check_all(&served);
    let map = run("nbdinfo", &["--map", &served.uri()]);
    assert!(map.contains("hole,zero"), "{map}");
    let map = run("qemu-img", &["map", "--output=json", "-f", "raw", &served.uri()]);
    assert!(
        map.contains("\"start\": 20971520, \"length\": 20971520") && map.contains("\"zero\": true"),
        "{map}"
    );
}

#[test]
#[ignore = "needs nbdkit, libnbd-bin and qemu-utils, which `make nbd-programs` installs"]
fn an_object_of_a_bucket_is_read_alike_by_all_clients() {
    let store = Store::start();
    let served = Served::bucket(&store, &[]);
    check_all(&served);
    let map = run("nbdinfo", &["--map", &served.uri()]);
    assert_eq!(
        map.split_whitespace().collect::<Vec<_>>(),
        ["0", &size_of(BUCKET_UNIT).to_string(), "0", "data"]
    );
}

#[test]
#[ignore = "needs nbdkit, libnbd-bin and qemu-utils, which `make nbd-programs` installs"]
fn clients_are_told_what_holds() {
    let served = Served::file(&[]);
    let info = run("nbdinfo", &["--json", &served.uri()]);
    for said in [
        "\"structured\": true",
        &format!("\"export-size\": {}", size_of(FILE_UNIT)),
        "\"is_read_only\": true",
        "\"can_cache\": true",
        "\"can_df\": true",
        "\"can_multi_conn\": true",
        "\"can_trim\": false",
        "\"can_zero\": false",
        "\"can_fua\": false",
        "\"base:allocation\"",
        "\"block_size_minimum\": 1",
    ] {
        assert!(info.contains(said), "{said} is not in {info}");
    }
    let list = run("nbdinfo", &["--list", &format!("nbd+unix:///?socket={}", served.at("nbd").display())]);
    assert!(list.contains("export=\"disk.img\""), "{list}");
}
