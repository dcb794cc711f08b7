//! The standard workloads, much smaller than they are, under every policy: the same each
//! time, and as they were when somebody last looked at them. `UPDATE_SNAPSHOTS=1` writes
//! them anew.

mod snapshot;

use forerun_lab::rows::{Matrix, run, tables};
use forerun_sim::device::Preset;

#[test]
fn the_standard_workloads_give_the_tables_of_the_snapshot() {
    let plan = Matrix { shrink: 16, ..Matrix::new(Preset::from_name("demo").unwrap(), 16 << 20) };
    let outcomes = run(&plan, |_, _| ()).unwrap();
    for outcome in &outcomes {
        let (what, run) = (format!("{} under {}", outcome.workload, outcome.policy), &outcome.runs[0]);
        assert!(run.memory_bytes_peak <= plan.memory_bytes, "{what}");
        assert!(outcome.bounds.lower_ns <= run.elapsed_ns, "{what}");
    }
    snapshot::check("rows.txt", &tables(&outcomes));
}

#[test]
fn a_budget_that_does_not_work_is_an_error() {
    let plan = Matrix::new(Preset::from_name("demo").unwrap(), 1 << 20);
    let error = run(&plan, |_, _| ()).unwrap_err().to_string();
    assert!(error.contains("memory budget"), "{error}");
}
