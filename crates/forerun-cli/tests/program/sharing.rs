//! `--weight`: each front end knows its clients.

use std::collections::BTreeMap;
use std::fs;

use rustix::process::Signal;

use super::metrics::{metrics_of, scrape};
use super::nbd_client::Client;
use super::serve::{address, files, get, named, secret, serve};
use super::serving::Serving;
use super::support::{Foreground, cat, forerun, output};
use super::{nfs, nfs_client};

const FAMILY: &str = "forerun_client_fetch_bytes_total";

/// The bytes that were fetched for each client, if any were.
fn fetched(metrics: &str) -> BTreeMap<String, u64> {
    let mut fetched = scrape(metrics).by_label(FAMILY);
    fetched.retain(|_, bytes| *bytes > 0);
    fetched
}

fn clients<const N: usize>(bytes: [(&str, u64); N]) -> BTreeMap<String, u64> {
    bytes.map(|(name, bytes)| (name.to_owned(), bytes)).into()
}

#[test]
fn a_server_knows_users_keys_and_hosts() {
    let folder = files();
    let data = folder.path().join("data");
    ["b", "c", "d"].iter().for_each(|name| fs::write(data.join(name), vec![1; 50_000]).unwrap());
    let keys = folder.path().join("keys");
    secret(&keys, "s3 AKIAEXAMPLE top-secret\nbasic ann password\nbearer t0k\n");
    let mut command = serve(
        &[
            ["--metrics", "127.0.0.1:0", "--credentials", keys.to_str().unwrap()],
            ["--nfs", "127.0.0.1:0", "--policy", "none"],
            ["--weight", "AKIAEXAMPLE=2", "--weight", "ann=1000"],
            ["--weight", "127.0.0.1=3", "--weight", "no=\"body=1"],
        ]
        .concat(),
        &[&named("data", &data)],
    );
    let first = Serving::start(&mut command);
    let http = first.greeting.split("http://").nth(1).unwrap().split([' ', ',']).next().unwrap().to_owned();
    let metrics = metrics_of(&first.greeting);
    let text = String::from_utf8(get(&metrics, "/metrics", "").1).unwrap();
    assert!(text.contains(&format!("{FAMILY}{{client=\"no=\\\"body\"}} 0")), "{text}");

    assert!(get(&http, "/-/data/a.bin", "Authorization: Basic YW5uOnBhc3N3b3Jk\r\n").0.contains("200"));
    assert_eq!(fetched(&metrics), clients([("ann", 100_000)]));
    assert!(get(&http, "/-/data/b", "Authorization: Bearer t0k\r\n").0.contains("200"));
    assert_eq!(fetched(&metrics), clients([("ann", 100_000), ("127.0.0.1", 50_000)]));
    let mut client = nfs_client::Client::new(nfs::address(&first).parse().unwrap());
    let file = client.open("c");
    assert!(client.read(&file, 0, 50_000).is_ok());
    assert_eq!(fetched(&metrics), clients([("ann", 100_000), ("127.0.0.1", 100_000)]));

    let mut command =
        serve(&["--endpoint", &format!("http://{http}"), "--region", "us-east-1"], &["copy=s3://data"]);
    command.env("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE").env("AWS_SECRET_ACCESS_KEY", "top-secret");
    let second = Serving::start(&mut command);
    assert!(get(&address(&second), "/copy/d", "").0.contains("200"));
    let all = [("ann", 100_000), ("127.0.0.1", 100_000), ("AKIAEXAMPLE", 50_000)];
    assert_eq!(fetched(&metrics), clients(all));
    assert_eq!((second.end().0, first.end().0), (Some(0), Some(0)));
}

#[test]
fn a_disk_server_knows_exports() {
    let folder = tempfile::tempdir().unwrap();
    ["a.img", "b.img"].iter().for_each(|name| fs::write(folder.path().join(name), vec![1; 100_000]).unwrap());
    let socket = folder.path().join("nbd");
    let mut command = forerun();
    command.args(["nbd", "--metrics", "127.0.0.1:0", "--policy", "none", "--weight", "a.img=4", "--unix"]);
    let serving = Serving::start(command.arg(&socket).arg(folder.path()));
    for (name, len) in [("a.img", 8192), ("b.img", 4096)] {
        let mut client = Client::unix(&socket);
        client.go(name);
        assert!(client.read(0, len).is_ok());
    }
    let metrics = metrics_of(&serving.greeting);
    assert_eq!(fetched(&metrics), clients([("a.img", 8192), ("others", 4096)]));
    assert_eq!(serving.end().0, Some(0));
}

#[test]
fn a_mount_knows_users() {
    let [source, directory] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let names: Vec<String> = (10..60).map(|number| format!("{number}.txt")).collect();
    names.iter().for_each(|name| fs::write(source.path().join(name), vec![1; 10_000]).unwrap());
    let weight = format!("{}=2", rustix::process::getuid().as_raw());
    let mut command = forerun();
    command.args(["mount", "--metrics", "127.0.0.1:0", "--weight", &weight]);
    let mount = Foreground::start(command.arg(source.path()).arg(directory.path()), directory.path());
    let metrics = metrics_of(&mount.greeting);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), names.len());
    names.iter().for_each(|name| assert_eq!(cat(&directory.path().join(name)).len(), 10_000));
    // Readahead across the files of a walk is for the same user.
    let user = weight.split('=').next().unwrap();
    assert_eq!(fetched(&metrics), clients([(user, names.len() as u64 * 10_000)]));
    let readahead = scrape(&metrics).sum("forerun_fetch_bytes_total", Some(("cause", "readahead")));
    assert!(readahead > 0, "no walk was followed");
    mount.signal(Signal::TERM);
    assert!(mount.end().0.success());
}

#[test]
fn a_wrong_weight_is_refused() {
    for (weight, expected) in [("ann", "NAME=COUNT"), ("ann=0", "1 to 1000"), ("=2", "NAME before =")] {
        let refused = output(&mut serve(&["--weight", weight], &["/"]));
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(refused.status.code() == Some(2) && said.contains(expected), "{weight}: {said}");
    }
    let refused = output(&mut serve(&["--rate", "0"], &["/"]));
    assert!(refused.status.code() == Some(2), "a rate of nothing");
    let [source, directory] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let mut command = forerun();
    command.args(["mount", "--weight", "ann=4"]).arg(source.path()).arg(directory.path());
    let refused = output(&mut command);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(1) && said.contains("knows users by number"), "{said}");
}
