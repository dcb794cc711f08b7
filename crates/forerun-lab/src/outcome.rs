//! The outcome of one cell of an experiment.

use forerun_sim::bound::Bounds;
use forerun_sim::run::Run;

/// One workload under one policy on one device with one budget, repeated with
/// different seeds.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The workload's name: a trace's file name without folder and ending, say.
    pub workload: String,
    /// The policy's name.
    pub policy: String,
    /// The device's name.
    pub device: String,
    /// The budget in bytes.
    pub memory_bytes: u64,
    /// The repetitions, by seed; at least one.
    pub runs: Vec<Run>,
    /// The bounds that no policy can beat; per workload, device and budget.
    pub bounds: Bounds,
}
