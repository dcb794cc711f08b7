//! Real recordings. Other programs counted the expected values.

#[path = "support/shared.rs"]
mod recordings;
mod support;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use forerun_trace::{Access, Format, Op, ReadOptions, Reader, Summary};
use recordings::shared;
use support::{read, write};

fn accesses(path: &Path, dispatched: bool) -> Vec<Access> {
    let reader = Reader::open(path, ReadOptions::default().with_dispatched(dispatched)).unwrap();
    reader.map(|access| access.unwrap()).collect()
}

fn check(name: &str, reads: u64, writes: u64, read_bytes: Option<u64>) -> Summary {
    let mut summary = Summary::default();
    accesses(&shared(name), false).iter().for_each(|access| summary.add(access));
    assert_eq!((summary.reads, summary.writes), (reads, writes), "{name}");
    assert!(read_bytes.is_none_or(|bytes| bytes == summary.read_bytes), "{name}: {}", summary.read_bytes);
    summary
}

#[test]
#[ignore = "needs the recordings of ../shared: make test-shared"]
fn boots() {
    let summary = check("csv/boot-ide.csv.gz", 89_951, 141, Some(95_822_336));
    assert_eq!(summary.sizes[&512], 88_735);
    check("csv/boot-virtio.csv", 3_946, 173, Some(96_096_768));
    check("csv/grep-virtio.csv.gz", 119_842, 65, Some(2_890_932_224));
}

#[test]
#[ignore = "needs the recordings of ../shared: make test-shared"]
fn the_boot_as_rbd_replay_is_the_boot() {
    let (csv, rbd) = (shared("csv/boot-virtio.csv"), shared("raw/boot-virtio.rbdreplay.gz"));
    let extents = |path: &Path| -> Vec<_> {
        let reads = accesses(path, false).into_iter().filter(|access| access.op == Op::Read);
        reads.map(|access| access.extent).collect()
    };
    assert_eq!(extents(&csv), extents(&rbd));
}

/// The real rbd-replay accepts that file, so it accepts a file with the same bytes.
#[test]
#[ignore = "needs the recordings of ../shared: make test-shared"]
fn rbd_replay_is_written_as_it_was_read() {
    let path = shared("raw/boot-virtio.rbdreplay.gz");
    let mut recorded = Vec::new();
    MultiGzDecoder::new(File::open(&path).unwrap()).read_to_end(&mut recorded).unwrap();
    let (accesses, reader) = read(recorded.clone(), None).unwrap();
    let (again, _) = write(&accesses, reader.files(), Format::RbdReplay).unwrap();
    assert!(again == recorded, "{} bytes became {}", recorded.len(), again.len());
}

#[test]
#[ignore = "needs the recordings of ../shared: make test-shared"]
fn cloud_physics_in_two_formats() {
    check("raw/cloudPhysicsIO.vscsi.gz", 46_974, 66_898, None);
    let (csv, raw) = (shared("csv/cloudphysics_w_sample.csv.gz"), shared("raw/cloudPhysicsIO.vscsi.gz"));
    let key = |access: &Access| (access.time_ns, access.op, access.extent.offset, access.extent.len);
    let keys = |path: &Path| accesses(path, false).iter().map(key).collect::<Vec<_>>();
    assert_eq!(keys(&csv), keys(&raw));
}

#[test]
#[ignore = "needs the recordings of ../shared: make test-shared"]
fn random_reads_of_blktrace() {
    let path = shared("raw/random4k.blktrace.0");
    for dispatched in [false, true] {
        let accesses = accesses(&path, dispatched);
        assert_eq!(accesses.len(), 963);
        assert!(accesses.iter().all(|access| access.op == Op::Read && access.extent.len == 4096));
        assert!(accesses.iter().all(|access| access.service_ns.is_some() == dispatched));
    }
}

/// The counts are those of `blkparse`.
#[test]
#[ignore = "needs the recordings of ../shared: make test-shared"]
fn a_compressed_blktrace() {
    check("raw/ooo_test1.hda1.blktrace.0.bz2", 3_463, 436, Some(101_265_408));
}

#[test]
#[ignore = "needs the recordings of ../shared: make test-shared"]
fn requests_of_the_block_tracer() {
    let path = shared("raw/ftrace-blk-diff-and-random.txt.gz");
    assert_eq!(accesses(&path, false).len(), 3_897);
    let dispatched = accesses(&path, true);
    assert_eq!(dispatched.len(), 3_898);
    assert_eq!(dispatched.iter().filter(|access| access.service_ns.is_some()).count(), 3_840);
}

#[test]
#[ignore = "needs the recordings of ../shared: make test-shared"]
fn partial_answers_of_sendfile() {
    let summary = check("csv/lighttpd-sendfile-200.csv.gz", 11_989, 0, Some(600_000_000));
    assert_eq!(summary.files(), 200);
    assert!(summary.partial > 11_700, "{}", summary.partial);
}

#[test]
#[ignore = "needs the recordings of ../shared: make test-shared"]
fn the_samples_are_these_recordings() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    for (sample, name) in [
        ("boot-ide.frt.gz", "csv/boot-ide.csv.gz"),
        ("boot-virtio.frt.gz", "csv/boot-virtio.csv"),
        ("grep-virtio.frt.gz", "csv/grep-virtio.csv.gz"),
        ("lighttpd-sendfile-200.frt.gz", "csv/lighttpd-sendfile-200.csv.gz"),
        ("nfs4-two-32k-w8.frt.gz", "csv/nfs4-two-32k-w8.csv.gz"),
    ] {
        let path = shared(name);
        let (sample, recorded) = (accesses(&samples.join(sample), false), accesses(&path, false));
        assert!(recorded.starts_with(&sample), "{name} begins with its sample");
    }
}

#[test]
#[ignore = "needs the recordings of ../shared: make test-shared"]
fn measured_service_times() {
    for (name, count) in [
        ("service/disksim_valid_cheetah9LP.csv.gz", 10_000),
        ("service/disksim_valid_ibm18es.csv.gz", 10_000),
        ("service/win11_boot.csv.gz", 172_630),
        ("service/lichota2007_ooo_test1_1.csv", 2_506),
    ] {
        let path = shared(name);
        let accesses = accesses(&path, false);
        assert_eq!(accesses.len(), count, "{name}");
        assert!(accesses.iter().all(|access| access.service_ns.is_some()), "{name}");
    }
}

#[test]
#[ignore = "needs the recordings of ../shared: make test-shared"]
fn every_other_table_can_be_read() {
    check("csv/nfs4-two-32k-w8.csv.gz", 6_400, 0, Some(209_715_200));
    check("csv/dlio_unet3d_posix.csv", 5_595, 0, None);
    check("csv/mqsim_wsrch_small.csv.gz", 24_779, 4, None);
    check("csv/mqsim_tpcc_small.csv", 4_381, 2_618, None);
    check("csv/lichota2007_bootset_01.csv", 5_935, 0, None);
}
