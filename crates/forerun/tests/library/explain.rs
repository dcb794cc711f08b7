//! Reports that a program can ask for.

use forerun::{Class, Forerun, Options};

const LEN: usize = 64 << 10;
const SIZE: usize = 8 << 20;

#[test]
fn each_object_says_what_is_read_ahead_of_it() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["up", "down", "untouched"] {
        std::fs::write(folder.path().join(name), vec![7; SIZE]).unwrap();
    }
    let options = Options::default().with_memory_bytes(64 << 20);
    let forerun = Forerun::connect_blocking(folder.path().to_str().unwrap(), options).unwrap();
    assert!(forerun.explain().is_empty());
    let open = |name: &str| forerun.open_blocking(name).unwrap();
    let (up, down) = (open("up"), open("down"));
    let mut buf = vec![0; LEN];
    for index in 0..SIZE / LEN / 2 {
        assert_eq!(up.read_at_blocking(&mut buf, (index * LEN) as u64).unwrap(), LEN);
        assert_eq!(down.read_at_blocking(&mut buf, (SIZE - (index + 1) * LEN) as u64).unwrap(), LEN);
    }

    let explained = forerun.explain();
    let paths: Vec<&str> = explained.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(paths, ["down", "up"]);
    for (one, class) in explained.iter().zip([Class::Backward, Class::Forward]) {
        let report = &one.report;
        assert_eq!((report.size, report.reader_count), (SIZE as u64, 1), "{report:?}");
        let stream = report.streams[0];
        assert_eq!((stream.class, stream.offset), (class, SIZE as u64 / 2), "{report:?}");
        assert!(one.idle(&stream).as_secs() < 3600, "{report:?}");
        assert!(report.cached_bytes >= SIZE as u64 / 2, "{report:?}");
        let counters = report.readahead.of(class);
        assert!(counters.in_time_bytes + counters.late_bytes > 0, "{report:?}");
        assert_eq!(forerun.readahead().of(class), counters);
    }
    assert!(forerun.device().throughput_bytes_per_s > 0);

    drop(up);
    let paths: Vec<String> = forerun.explain().into_iter().map(|one| one.path).collect();
    assert_eq!(paths, ["down", "up"], "it is closed, but still in memory");
}

#[test]
fn a_snapshot_has_lent_bytes_and_the_streams_of_open_objects() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("up"), vec![7; SIZE]).unwrap();
    let options = Options::default().with_memory_bytes(64 << 20);
    let forerun = Forerun::connect_blocking(folder.path().to_str().unwrap(), options).unwrap();
    let streams =
        || -> Vec<_> { forerun.snapshot().streams.into_iter().filter(|(_, count)| *count > 0).collect() };
    assert!(streams().is_empty());
    let reader = forerun.open_blocking("up").unwrap();
    let mut buf = vec![0; LEN];
    (0..4).for_each(|index| _ = reader.read_at_blocking(&mut buf, (index * LEN) as u64).unwrap());
    let lease = reader.lease_blocking(4 * LEN as u64, LEN).unwrap();
    let snapshot = forerun.snapshot();
    assert_eq!(snapshot.usage.lent_bytes, LEN as u64);
    assert_eq!((snapshot.counters.read_count, snapshot.counters.read_bytes), (5, 5 * LEN as u64));
    assert_eq!(snapshot.usage.memory_bytes_max, 64 << 20);
    assert!(snapshot.usage.memory_bytes >= 5 * LEN as u64, "{snapshot:?}");
    assert_eq!(streams(), [(Class::Forward, 1)]);
    drop(lease);
    assert_eq!(forerun.snapshot().usage.lent_bytes, 0);
    drop(reader);
    assert!(streams().is_empty(), "the object is closed");
}
