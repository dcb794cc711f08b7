use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use forerun_sim::source::Pace;

use super::*;
use crate::demo::data::Contents;
use crate::demo::link::Shape;
use crate::demo::store::{BUCKET, Bucket, Store};

const BYTES: u64 = 8 << 20;

/// Two threads, two files, reads in and out of order, and a write.
fn recording(folder: &Path, files: [&str; 2]) -> Workload {
    let mut text = "ts_us,op,file_or_dev,offset,length\n".to_owned();
    for at in 0..200 {
        let offset = if at % 10 == 9 { BYTES / 8 - at * 4096 } else { at / 2 * 5000 };
        text += &format!("{},R,{},{offset},5000\n", at * 10, files[at as usize % 2]);
    }
    text += &format!("2000,W,{},0,512\n", files[0]);
    let path = folder.join("recording.csv");
    std::fs::write(&path, text).unwrap();
    Workload::open(&path, ReadOptions::default()).unwrap()
}

/// Replays, and checks every byte with `is_right`.
fn replay_checked(
    options: &LiveOptions,
    url: &str,
    workload: &Workload,
    policy: PolicyKind,
    is_right: impl Fn(&str, u64, &[u8]) -> bool + Send + Sync + 'static,
) {
    let (right, wrong) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let names = options.names(url, workload, ReadOptions::default()).unwrap();
    let forerun = Forerun::connect_blocking(url, options.options(policy, 16 << 20)).unwrap();
    let counts = (Arc::clone(&right), Arc::clone(&wrong));
    let check = Arc::new(move |name: &str, offset: u64, lease: &forerun::Lease<'_>| {
        let count = if is_right(name, offset, &lease.to_contiguous()) { &counts.0 } else { &counts.1 };
        count.fetch_add(lease.len() as u64, Ordering::Relaxed);
    });
    let objects = Objects::open(&forerun, workload, &names).unwrap().checked(check);
    let failure = Failure::default();
    let live = play(&mut workload.source(Pace::Closed, &failure), &objects);
    let live = failure.or(Ok(live)).unwrap().unwrap();
    let run = live.run.with_counters(&forerun.counters());
    assert_eq!((right.load(Ordering::Relaxed), wrong.load(Ordering::Relaxed)), (200 * 5000, 0));
    assert_eq!((run.read_count, run.read_bytes), (200, 200 * 5000));
    assert_eq!(run.hit_bytes + run.late_bytes + run.miss_bytes, run.read_bytes);
}

#[test]
fn a_directory_gives_its_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let workload = recording(folder.path(), ["a", "deep/b"]);
    let data = folder.path().join("data");
    std::fs::create_dir_all(data.join("deep")).unwrap();
    let bytes = |name: &str| -> Vec<u8> {
        (0..BYTES / 8).map(|at| (at * 31 / 7 + name.len() as u64) as u8).collect()
    };
    ["a", "deep/b"].iter().for_each(|name| std::fs::write(data.join(name), bytes(name)).unwrap());
    for policy in [PolicyKind::None, PolicyKind::Adaptive] {
        let whole = [("a", bytes("a")), ("deep/b", bytes("deep/b"))];
        let is_right = move |name: &str, offset: u64, read: &[u8]| {
            let (_, bytes) = whole.iter().find(|(whose, _)| *whose == name).unwrap();
            bytes[offset as usize..].starts_with(read)
        };
        replay_checked(&LiveOptions::default(), data.to_str().unwrap(), &workload, policy, is_right);
    }
}

#[test]
fn a_store_gives_its_bytes() {
    let shape = Shape { latency: std::time::Duration::ZERO, ..Shape::default() };
    let contents = Contents::new(BYTES);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let address = runtime.block_on(async {
        let store = Store::bind(Bucket::Generated(contents.clone()), shape, None).unwrap();
        let address = store.address().unwrap();
        tokio::spawn(store.serve());
        address
    });
    let folder = tempfile::tempdir().unwrap();
    let workload = recording(folder.path(), ["one.bin", "/big/1.bin"]);
    let options = LiveOptions {
        endpoint: Some(format!("http://{address}")),
        anonymous: true,
        region: Some("us-east-1".to_owned()),
        ..LiveOptions::default()
    };
    let is_right = move |name: &str, offset: u64, read: &[u8]| {
        contents.matches(contents.object(name).unwrap(), offset, read)
    };
    replay_checked(&options, &format!("s3://{BUCKET}"), &workload, PolicyKind::Adaptive, is_right);
}

#[test]
fn objects_that_do_not_match_the_recording_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let workload = recording(folder.path(), ["a", "b"]);
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let url = data.to_str().unwrap();
    let open = |options: &LiveOptions| {
        let names =
            options.names(url, &workload, ReadOptions::default()).map_err(|error| error.to_string())?;
        let forerun = Forerun::connect_blocking(url, options.options(PolicyKind::None, 16 << 20)).unwrap();
        Objects::open(&forerun, &workload, &names).map(drop)
    };
    let error = open(&LiveOptions::default()).unwrap_err();
    assert!(error.contains("does not have") && error.contains("--live-create"), "{error}");
    std::fs::write(data.join("a"), "short").unwrap();
    let error = open(&LiveOptions::default()).unwrap_err();
    assert!(error.contains("which has 5 in"), "{error}");
    let single = LiveOptions { live_object: Some("a".to_owned()), ..LiveOptions::default() };
    assert!(open(&single).unwrap_err().contains("reads 2 files"));
    let create = LiveOptions { live_create: true, ..LiveOptions::default() };
    assert_eq!(open(&create), Ok(()));
}
