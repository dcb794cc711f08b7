//! One reader with one policy, predicted and measured.

use std::thread::available_parallelism;
use std::time::Duration;

use forerun::PolicyKind;
use forerun_lab::fidelity::{Readers, Stack, predict};
use forerun_sim::device::Preset;
use forerun_sim::source::Extent;

use super::calibrate::Calibration;
use crate::demo::RANDOM_READS;
use crate::demo::data::Contents;
use crate::demo::median::median;
use crate::demo::processors::PROCESSORS_TAKEN_MAX;
use crate::demo::reader::Pattern;
use crate::demo::session::{Measured, Run, Session};
use crate::mount::KernelReadahead;
use crate::print::tell;

/// Predicted over measured rates.
const RATIO_MIN: f64 = 0.85;
const RATIO_MAX: f64 = 1.15;
/// The number of predictions, and their number if thread scheduling decides.
const SEEDS: u64 = 3;
const SEEDS_MAX: u64 = 31;
/// The spread of rates, fastest over slowest, from which thread scheduling decides.
const SPREAD_MAX: f64 = 1.1;
/// The most repetitions of a measurement that other programs disturbed.
const DISTURBED_MAX: usize = 2;

/// A configuration to measure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) policy: PolicyKind,
    pub(super) pattern: Pattern,
    pub(super) calibration: Calibration,
    pub(super) memory_bytes: u64,
    pub(super) time_max: Duration,
}

/// The prediction with one seed.
#[derive(Clone, Copy, Debug)]
struct Predicted {
    mb_s: f64,
    /// Bytes fetched for each byte read.
    fetched: f64,
}

/// The predictions and measurements of a configuration.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) point: Point,
    predicted: Vec<Predicted>,
    measured: Vec<Measured>,
    /// The rates of all measurements, including disturbed ones that were repeated.
    rates: Vec<f64>,
}

impl Cell {
    /// Predicts `point`, for reading `contents`.
    ///
    /// # Errors
    /// A defect of the simulator.
    pub(super) fn predict(point: Point, contents: &Contents) -> Result<Cell, String> {
        let size_of = |file: &str| match contents.object(file) {
            Some(object) => Ok(object.size),
            None => Err(format!("the demo has no {file}")),
        };
        let mut readers = Vec::new();
        for list in point.pattern.lists(size_of, RANDOM_READS)? {
            let extent = |offset: &u64| Extent::new(*offset, list.read_bytes);
            readers.push(Readers {
                file_bytes: size_of(&list.file)?,
                open_ns: point.calibration.open_ns_of(&list.file),
                thread_count: list.threads,
                reads: list.offsets.iter().map(extent).collect(),
            });
        }
        let until_ns = point.time_max.as_nanos() as u64;
        let stack = point.stack()?;
        let mut cell = Cell { point, predicted: Vec::new(), measured: Vec::new(), rates: Vec::new() };
        for seed in 1..=SEEDS_MAX {
            if seed > SEEDS && !is_spread(&cell.predicted_rates()) {
                break;
            }
            let run = predict(&stack, &readers, until_ns, seed).map_err(|error| error.to_string())?;
            cell.predicted.push(Predicted {
                mb_s: run.read_bytes as f64 * 1e3 / run.elapsed_ns.max(1) as f64,
                fetched: run.device.read_bytes as f64 / run.read_bytes.max(1) as f64,
            });
        }
        Ok(cell)
    }

    fn predicted_rates(&self) -> Vec<f64> {
        self.predicted.iter().map(|predicted| predicted.mb_s).collect()
    }

    /// Whether its measurements differ so much that a few of them say little.
    pub(super) fn is_spread(&self) -> bool {
        is_spread(&self.rates)
    }

    /// Measures once more.
    ///
    /// # Errors
    /// The step that failed, wrong bytes included.
    pub(super) async fn measure(&mut self, session: &mut Session) -> Result<(), String> {
        let Point { policy, pattern, calibration, memory_bytes, time_max } = self.point;
        let run = Run {
            policy: policy.name().to_owned(),
            pattern,
            shape: calibration.shape,
            memory_bytes,
            is_learned: false,
            time_max,
            random_reads: RANDOM_READS,
        };
        let mut best: Option<Measured> = None;
        // Rows that scheduling decides have more measurements anyway.
        let again_max = if self.is_spread() { 0 } else { DISTURBED_MAX };
        for _ in 0..=again_max {
            let measured = session.measure(&run).await?;
            if !measured.is_correct() {
                return Err(format!("{}, policy {}: WRONG BYTES", pattern.title(), policy.name()));
            }
            self.rates.push(measured.mb_s());
            let is_disturbed = measured.processors_taken > PROCESSORS_TAKEN_MAX;
            tell(&format!(
                "{}, policy {}: {:.2} MB/s, predicted {:.2}{}",
                pattern.title(),
                policy.name(),
                measured.mb_s(),
                self.predicted_mb_s(),
                if is_disturbed { ", disturbed" } else { "" }
            ));
            if best.is_none_or(|best| measured.processors_taken < best.processors_taken) {
                best = Some(measured);
            }
            if !is_disturbed {
                break;
            }
        }
        self.measured.extend(best);
        Ok(())
    }

    pub(super) fn predicted_mb_s(&self) -> f64 {
        median(self.predicted_rates())
    }

    pub(super) fn predicted_fetched(&self) -> f64 {
        median(self.predicted.iter().map(|predicted| predicted.fetched).collect())
    }

    pub(super) fn measured_mb_s(&self) -> f64 {
        // Choosing by disturbance among random results would be random again.
        if self.is_spread() { median(self.rates.clone()) } else { self.median(Measured::mb_s) }
    }

    pub(super) fn measured_fetched(&self) -> f64 {
        self.median(Measured::fetched_ratio)
    }

    /// Predicted over measured.
    pub(super) fn ratio(&self) -> f64 {
        self.predicted_mb_s() / self.measured_mb_s()
    }

    /// The slowest and the fastest measurement, if no single number could be right for both.
    pub(super) fn range(&self) -> Option<(f64, f64)> {
        let (slowest, fastest) = extremes(&self.rates);
        (fastest * RATIO_MIN > slowest * RATIO_MAX).then_some((slowest, fastest))
    }

    /// Whether the prediction is near the measurement. If measurements differ by more than that,
    /// whether it lies among them.
    pub(super) fn is_right(&self) -> bool {
        let could_be = |(slowest, fastest)| (slowest..=fastest).contains(&self.predicted_mb_s());
        (RATIO_MIN..=RATIO_MAX).contains(&self.ratio()) || self.range().is_some_and(could_be)
    }

    /// Whether other programs disturbed more than half of the measurements.
    pub(super) fn is_disturbed(&self) -> bool {
        self.median(|measured| measured.processors_taken) > PROCESSORS_TAKEN_MAX
    }

    fn median(&self, value: impl Fn(&Measured) -> f64) -> f64 {
        median(self.measured.iter().map(value).collect())
    }
}

fn is_spread(rates: &[f64]) -> bool {
    let (slowest, fastest) = extremes(rates);
    fastest > SPREAD_MAX * slowest
}

/// The least and the largest.
fn extremes(rates: &[f64]) -> (f64, f64) {
    rates.iter().fold((f64::INFINITY, 0.0), |(least, most), rate| (least.min(*rate), most.max(*rate)))
}

impl Point {
    fn stack(&self) -> Result<Stack, String> {
        let Calibration { shape, fetch_ns, costs, .. } = self.calibration;
        let store = format!(
            "network:latency={}ns,connection={}MB/s,total={}MB/s",
            shape.latency.as_nanos() as u64 + fetch_ns,
            shape.connection_bytes_per_s / 1_000_000,
            shape.total_bytes_per_s / 1_000_000
        );
        Ok(Stack {
            kernel_readahead_bytes: KernelReadahead::Auto.bytes(self.policy, false),
            policy: self.policy,
            memory_bytes: self.memory_bytes,
            store: Preset::from_name(&store)?,
            costs,
            replier_count: available_parallelism().map_or(2, |count| count.get().clamp(2, 4)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luck_shows_in_the_spread() {
        assert!(!is_spread(&[]) && !is_spread(&[20.0]) && !is_spread(&[20.0, 21.9, 20.5]));
        assert!(is_spread(&[38.0, 60.0, 85.0]));
    }
}
