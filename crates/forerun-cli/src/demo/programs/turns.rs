//! The order of the runs of one program.

use super::catalog::Program;
use super::contender::Contender;
use super::outcome::Summary;
use super::program_bench::{ProgramBench, RunOutcome};
use crate::print::tell;

impl ProgramBench {
    /// Runs all contenders in turn, and again: a disturbance then costs each of them one run.
    ///
    /// Each round begins with another contender. A virtual machine gets memory from its host at the
    /// first touch, and the first program of a round pays for that.
    ///
    /// # Errors
    /// A step that failed, other than the program.
    pub(super) async fn measure_in_turns(
        &mut self,
        row: Program,
        contenders: Vec<Contender>,
        repeat: u32,
    ) -> Result<Vec<(Contender, Summary)>, String> {
        let failed = |error: String| format!("{}: {error}", row.name);
        // It also reads the local copy into the page cache, which the store sends from.
        let checksum = match self.measure(row, Contender::Copy).await.map_err(failed)? {
            RunOutcome::Measured(measured) => measured.reading.checksum,
            RunOutcome::Failed(why) => return Err(failed(why)),
            outcome => {
                let summary = Summary::of(&[outcome], "");
                return Ok(contenders.into_iter().map(|contender| (contender, summary.clone())).collect());
            }
        };
        let mut outcomes = vec![Vec::new(); contenders.len()];
        for turn in 0..repeat as usize {
            for place in (0..contenders.len()).map(|index| (turn + index) % contenders.len()) {
                let (contender, outcomes) = (&contenders[place], &mut outcomes[place]);
                if matches!(outcomes.last(), Some(RunOutcome::TooSlow | RunOutcome::Failed(_))) {
                    continue;
                }
                let outcome = self.measure(row, *contender).await;
                let outcome = outcome.map_err(|error| failed(format!("{}: {error}", contender.name())))?;
                tell(&format!("{}, {}: {}", row.name, contender.name(), brief(&outcome)));
                outcomes.push(outcome);
            }
        }
        let summaries = outcomes.iter().map(|outcomes| Summary::of(outcomes, &checksum));
        Ok(contenders.into_iter().zip(summaries).collect())
    }
}

/// One line, to follow the measurement.
fn brief(outcome: &RunOutcome) -> String {
    match outcome {
        RunOutcome::Measured(measured) => format!("{:.2} s", measured.reading.seconds),
        RunOutcome::TooSlow => "too slow, ended".to_owned(),
        RunOutcome::Unavailable(why) | RunOutcome::Failed(why) => why.clone(),
    }
}
