//! `forerun lab fidelity`: compares the simulator's predictions with measurements of the demo.

mod calibrate;
mod cell;
mod prediction_table;

use std::error::Error;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use forerun::PolicyKind;
use forerun_lab::work::on_all_cores;

use self::calibrate::Calibration;
use self::cell::{Cell, Point};
use crate::demo::link::Shape;
use crate::demo::reader::Pattern;
use crate::demo::session::Session;
use crate::demo::{parse_bytes, parse_demo_pattern};
use crate::print::{show, tell};
use crate::progress::Progress;
use crate::units::{parse_duration, parse_size};

/// Compare the simulator with a real mount
///
/// Runs the readers of `forerun demo` through a real mount and in the simulator, and prints both
/// rates. Fails if they differ by more than 15 % in any row. The processor times that the simulator
/// needs are measured once before. Run nothing else on the machine meanwhile.
#[derive(Debug, clap::Args)]
pub(crate) struct FidelityCommand {
    /// How long each request to the store waits for its first byte, as in 10ms
    #[arg(long, value_name = "TIMES", value_delimiter = ',', default_value = "10ms", value_parser = parse_duration)]
    latency: Vec<Duration>,

    /// The policies to compare
    #[arg(long, value_name = "POLICIES", value_delimiter = ',', default_value = "none,plain,adaptive")]
    policy: Vec<Policy>,

    /// The readers to run: sequential, parallel, interleaved, displaced or random
    #[arg(long, value_name = "READERS", value_delimiter = ',', value_parser = parse_demo_pattern)]
    only: Vec<Pattern>,

    /// How often to measure at least; the table has medians
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=99))]
    repeat: u32,

    /// How much each reader reads, as in 1GiB; the random reader reads less
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = parse_bytes)]
    size: u64,

    /// The mount's memory for data, as in 256MiB
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = parse_size)]
    memory: u64,

    /// The longest time that a reader reads, as in 5s
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_duration)]
    time: Duration,
}

/// Rows that thread scheduling decides are measured this many times as often.
const SPREAD_FACTOR: u32 = 5;

/// A policy by its name.
#[derive(Clone, Copy, Debug)]
struct Policy(PolicyKind);

impl FromStr for Policy {
    type Err = String;

    fn from_str(name: &str) -> Result<Policy, String> {
        let unknown = || format!("expected one of {}", PolicyKind::ALL.map(PolicyKind::name).join(", "));
        name.parse().map(Policy).map_err(|_| unknown())
    }
}

impl FidelityCommand {
    /// Measures, predicts and compares. Fails if a prediction is wrong.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let (calibrations, cells) = Session::with(self.size, async |session| {
            let mut calibrations = Vec::new();
            for latency in &self.latency {
                let shape = Shape { latency: *latency, ..Shape::default() };
                calibrations.push(Calibration::measure(session, shape).await?);
                calibrations.iter().rev().take(1).for_each(|done| tell(&done.describe()));
            }
            let points = self.points(&calibrations);
            let mut cells = on_all_cores(&points, |point| Cell::predict(*point, session.contents()))?;
            // Runs all cells once, then again: a temporary disturbance then affects one measurement
            // of each cell, not all of one.
            let rounds = self.repeat * SPREAD_FACTOR;
            let progress = Progress::steps("fidelity", rounds as usize * cells.len());
            for round in 0..rounds {
                for cell in &mut cells {
                    if round < self.repeat || cell.is_spread() {
                        cell.measure(session).await?;
                    }
                    progress.advance();
                }
            }
            Ok((calibrations, cells))
        })?;
        show(&prediction_table::report(&calibrations, &cells, self.memory))?;
        let is_right = cells.iter().all(Cell::is_right);
        Ok(if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn points(&self, calibrations: &[Calibration]) -> Vec<Point> {
        let patterns = if self.only.is_empty() { Pattern::DEMO.to_vec() } else { self.only.clone() };
        let mut points = Vec::new();
        for calibration in calibrations {
            for pattern in &patterns {
                points.extend(self.policy.iter().map(|policy| Point {
                    policy: policy.0,
                    pattern: *pattern,
                    calibration: *calibration,
                    memory_bytes: self.memory,
                    time_max: self.time,
                }));
            }
        }
        points
    }
}
