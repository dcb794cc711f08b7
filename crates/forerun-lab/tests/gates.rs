//! The verdicts of the gates on a few workloads: the same each time, and as in the snapshot.
//! `UPDATE_SNAPSHOTS=1` writes it anew.

mod snapshot;

use std::path::{Path, PathBuf};

use forerun_lab::export;
use forerun_lab::gates::{CONTENDERS, Gate, Inspection, Kept, Kind, generated, recordings, table};
use forerun_lab::quick;
use forerun_lab::replay::{LEARNED, Settings};
use forerun_policies::PolicyKind;
use forerun_sim::device::Preset;

const ACCESSES_MAX: u64 = 5000;

fn plan(words: &[&str]) -> Inspection {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/boot-virtio.frt.gz");
    let mut cases = recordings(&[sample], ACCESSES_MAX).unwrap().cases;
    cases.extend(generated());
    cases.retain(|case| words.iter().any(|words| case.workload.name().contains(words)));
    Inspection {
        cases,
        devices: ["ide-2006", "nvme"].iter().map(|name| Preset::from_name(name).unwrap()).collect(),
        memory_bytes: vec![64 << 20],
        seeds: 3,
        seeds_max: 6,
    }
}

#[test]
fn a_row_for_each_workload_and_device() {
    let plan = plan(&["boot-virtio", "displaced", "random 128K"]);
    let findings = plan.run(None, |_, _| {}).unwrap();
    assert_eq!(findings.rows.len(), 6);
    for row in &findings.rows {
        // A disk has no luck.
        let seeds = if row.device == "ide-2006" { 1..=1 } else { 3..=6 };
        assert!(seeds.contains(&row.seed_count), "{row:?}");
        assert_eq!(row.holds(Gate::Bound).is_some(), row.kind == Kind::Stream, "{row:?}");
        assert_eq!(row.holds(Gate::Learned).is_some(), row.kind == Kind::Start, "{row:?}");
    }
    let csv = export::csv(&findings.outcomes, &Settings { repeat: 3, ..Settings::default() });
    assert!(csv.lines().count() > 3 * CONTENDERS.len() * (1 + 3));
    assert!(csv.contains(LEARNED));
    snapshot::check("gates.txt", &table(&plan, &findings));
}

#[test]
fn a_budget_that_does_not_work_is_an_error() {
    let plan = Inspection { memory_bytes: vec![1 << 20], ..plan(&["displaced"]) };
    assert!(plan.run(None, |_, _| {}).unwrap_err().to_string().contains("memory budget"));
}

#[test]
fn a_device_that_is_too_small_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.csv");
    std::fs::write(&path, "ts_us,op,file_or_dev,offset,length\n0,R,a,20000000000,4096\n").unwrap();
    let devices = vec![Preset::from_name("cheetah9lp").unwrap()];
    let plan = Inspection { cases: recordings(&[path], 1).unwrap().cases, devices, ..plan(&[]) };
    let findings = plan.run(None, |_, _| {}).unwrap();
    assert!(findings.left_out[0].contains("large.csv") && findings.left_out[0].contains("cheetah9lp"));
    // Nothing was shown.
    assert!(findings.rows.is_empty() && !findings.hold(Gate::Harm));
}

#[test]
fn unreadable_and_repeated_recordings_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let rows = "ts_us,op,file_or_dev,offset,length\n0,R,a,0,4096\n1,R,a,4096,4096\n2,R,a,8192,4096\n";
    put("a.csv", rows);
    put("b.csv", rows);
    put("c.txt", "nothing that anybody knows\n");
    put("d.csv", &rows.replace("8192", "0"));
    put("notes.md", "are no recording");
    let found = recordings(&[folder.path().to_owned()], 2).unwrap();
    // Their first two accesses are the same.
    let names: Vec<&str> = found.cases.iter().map(|case| case.workload.name()).collect();
    assert_eq!(names, ["a"]);
    assert_eq!(found.cases[0].kind, Kind::Start, "it is too short for a stream");
    let remarks = found.remarks.join("\n");
    for words in ["cut: ", "b.csv: repeats ", "c.txt: ", "d.csv: repeats "] {
        assert!(remarks.contains(words), "{words}: {remarks}");
    }
    assert!(!remarks.contains("notes.md"));
    assert!(
        recordings(&[PathBuf::from("/does/not/exist")], 1)
            .unwrap_err()
            .to_string()
            .contains("/does/not/exist")
    );
}

#[test]
fn a_quick_table_is_the_same_each_time_and_deals_out_memory() {
    let Inspection { cases, devices, .. } = plan(&["displaced"]);
    let policies = vec![PolicyKind::None, PolicyKind::Adaptive, PolicyKind::Plain];
    let plan = quick::Survey { cases, mixed: 3, devices, policies };
    let cells = plan.run(|_, _| {}).unwrap();
    // One recording or pattern and three made of a number, on two devices, under three policies.
    assert_eq!(cells.len(), 4 * 2 * 3);
    assert_eq!(plan.run(|_, _| {}).unwrap(), cells);
    let of_first = cells.iter().filter(|cell| cell.place.workload == cells[0].place.workload);
    let mut budgets: Vec<_> = of_first.map(|cell| cell.place.memory_bytes).collect();
    budgets.dedup();
    assert_eq!(budgets, quick::MEMORY_BYTES[..2]);
    assert_eq!(quick::file::read(&quick::file::write(&cells)).unwrap(), cells);
}

#[test]
fn a_check_that_was_interrupted_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows");
    let run = |words: &[&str], key: &str| {
        let kept = Kept::open(&path, key).map_err(|error| error.to_string())?;
        plan(words).run(Some(&kept), |_, _| {}).map_err(|error| error.to_string())
    };
    let first = run(&["displaced"], "build 1").unwrap();
    assert!(first.rows.len() == 2 && !first.outcomes.is_empty());
    // Half a line is of a row that is not finished.
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}gen random 128K\tide")).unwrap();
    let both = run(&["displaced", "random 128K"], "build 1").unwrap();
    assert_eq!(both.rows.len(), 4);
    let ran: Vec<_> = both.outcomes.iter().map(|outcome| outcome.workload.as_str()).collect();
    assert!(ran.iter().all(|name| *name == "gen random 128K"), "{ran:?}");
    let again = run(&["displaced", "random 128K"], "build 1").unwrap();
    assert!(again.outcomes.is_empty());
    let alone = plan(&["displaced", "random 128K"]).run(None, |_, _| {}).unwrap();
    assert_eq!(format!("{:?}", again.rows), format!("{:?}", alone.rows));
    assert!(run(&["displaced"], "build 2").unwrap_err().contains("another build"));
}
