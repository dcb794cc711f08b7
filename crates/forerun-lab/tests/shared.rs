//! Every recording there is, under every policy, in debug builds with every byte's place checked.

#[path = "../../forerun-trace/tests/support/shared.rs"]
mod recordings;

use std::path::{Path, PathBuf};

use forerun_lab::replay::{Plan, Settings};
use forerun_lab::workload::{Workload, tell_apart};
use forerun_policies::PolicyKind;
use forerun_sim::device::Preset;
use forerun_trace::{Format, Op, ReadOptions, Reader, Writer};
use recordings::shared;

/// Reads of each recording that are replayed, and what lies between them.
const READS_MAX: usize = 1_000;

fn recordings() -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for folder in ["csv", "service", "raw"] {
        let entries = std::fs::read_dir(shared(folder)).unwrap();
        paths.extend(entries.map(|entry| entry.unwrap().path()));
    }
    // Descriptions of disks are no recordings.
    paths.retain(|path| path.extension().is_none_or(|ending| ending != "json"));
    paths.sort();
    paths
}

/// The first accesses of the recording, with what they wait for, in our own format.
fn cut(path: &Path, folder: &Path) -> PathBuf {
    let kind = path.parent().and_then(Path::file_name).unwrap().to_string_lossy().into_owned();
    let out = folder.join(format!("{kind}-{}.frt", path.file_name().unwrap().to_string_lossy()));
    let mut reader = Reader::open(path, ReadOptions::default()).unwrap();
    let mut writer = Writer::create(&out, Some(Format::Compact)).unwrap();
    let mut reads = 0;
    while let Some(access) = reader.next().filter(|_| reads < READS_MAX) {
        let access = access.unwrap();
        reads += usize::from(access.op == Op::Read);
        writer.write(&access, reader.files()).unwrap();
    }
    writer.finish(reader.files()).unwrap();
    out
}

fn replay(paths: &[PathBuf], device: &str) {
    let open = |path: &PathBuf| Workload::open(path, ReadOptions::default()).unwrap();
    let mut workloads: Vec<Workload> = paths.iter().map(open).collect();
    tell_apart(&mut workloads).unwrap();
    let plan = Plan {
        workloads,
        devices: vec![Preset::from_name(device).unwrap()],
        memory_bytes: vec![16 << 20],
        policies: PolicyKind::ALL.to_vec(),
        learned: false,
        settings: Settings { repeat: 1, ..Settings::default() },
    };
    let outcomes = plan.run(|_, _| ()).unwrap();
    for outcome in &outcomes {
        let workload = plan.workloads.iter().find(|workload| workload.name() == outcome.workload).unwrap();
        let (run, scan) = (&outcome.runs[0], workload.scan());
        let what = format!("{} under {}", outcome.workload, outcome.policy);
        assert_eq!(run.read_bytes, scan.read_bytes, "{what}");
        assert_eq!(run.hit_bytes + run.late_bytes + run.miss_bytes, run.read_bytes, "{what}");
        assert!(run.memory_bytes_peak <= 16 << 20, "{what}");
        assert!(outcome.bounds.lower_ns <= outcome.bounds.clairvoyant_ns, "{what}");
        assert!(outcome.bounds.lower_ns <= run.elapsed_ns, "{what}: {:?} {}", outcome.bounds, run.elapsed_ns);
    }
}

#[test]
#[ignore = "needs the recordings of ../shared: make test-shared"]
fn every_recording_under_every_policy() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = recordings().iter().map(|path| cut(path, folder.path())).collect();
    replay(&paths, "s3");
}
