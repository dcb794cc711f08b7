//! The order of the runs of one program.

use super::catalog::Program;
use super::contender::Contender;
use super::outcome::Summary;
use super::program_bench::{ProgramBench, RunOutcome};
use crate::demo::rounds::rounds;
use crate::print::tell;

impl ProgramBench {
    /// Runs all contenders in rounds.
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
        for place in rounds(repeat, contenders.len()) {
            let (contender, outcomes) = (&contenders[place], &mut outcomes[place]);
            if matches!(outcomes.last(), Some(RunOutcome::TooSlow | RunOutcome::Failed(_))) {
                continue;
            }
            let outcome = self.measure(row, *contender).await;
            let outcome = outcome.map_err(|error| failed(format!("{}: {error}", contender.name())))?;
            tell(&format!("{}, {}: {}", row.name, contender.name(), brief(&outcome)));
            outcomes.push(outcome);
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
