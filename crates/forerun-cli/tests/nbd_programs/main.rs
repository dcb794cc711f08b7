//! Clients of others read from `forerun nbd`: libnbd's tools, QEMU's and nbdkit. `make nbd-programs` installs
//! them and runs this; elsewhere it is left out.

mod bench;
mod images;
#[allow(dead_code, reason = "each test program uses its part")]
mod served;
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
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use served::{BUCKET_UNIT, FILE_UNIT, MIB, Served, size_of};
use serving::Serving;
use support::others::{DEADLINE, Process, assert_same, run};
use support::program::{forerun, output_within};
use support::{Store, pattern};
use tempfile::TempDir;

fn wait_for(socket: &Path) {
    let began = Instant::now();
    while std::os::unix::net::UnixStream::connect(socket).is_err() {
        assert!(began.elapsed() < Duration::from_secs(30), "nothing listens at {}", socket.display());
        // A process of another program does not announce that it listens.
        thread::sleep(Duration::from_millis(20));
    }
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
