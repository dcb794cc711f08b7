//! Every table that is made again, as it was when somebody last looked at it.
//!
//! In debug builds this takes long: `cargo test --release -p forerun-lab --test seeds`.
//! `UPDATE_SNAPSHOTS=1` writes the snapshots anew.

mod snapshot;

use forerun_lab::seeds::{EXPERIMENTS, run, show};

#[test]
fn experiments_give_the_tables_of_the_snapshots() {
    for (experiment, findings) in EXPERIMENTS.iter().zip(run(EXPERIMENTS, |_, _| {})) {
        snapshot::check(&format!("seeds/{}.txt", experiment.id), &show(experiment, &findings));
    }
}
