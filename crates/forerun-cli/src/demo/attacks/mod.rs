//! `forerun bench attacks`: the cost of a bad server to the readers of other files.

mod attack_table;
mod mounted_store;
mod victims;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;

use self::mounted_store::{AttackOutcome, MountedStore};
use super::session::{on_threads_of_its_own, stop_asked};
use super::store::Attack;
use crate::print::{show, tell};
use crate::progress::Progress;
use crate::units::parse_duration;

/// The least share of their pace for other readers.
const SHARE_MIN: f64 = 0.9;
/// The longest time for a killed program to end.
const KILL_MAX: Duration = Duration::from_secs(1);

/// Measure what a bad server costs other readers
///
/// Mounts a store that misbehaves below one directory, and a good one. Three programs read from that
/// directory. Meanwhile one reader of another file there, and one of the good store, ask for 100 MB/s
/// each. Then the programs are killed. The command fails if a reader gets less than nine tenths of
/// its pace, or a wrong byte. It also fails if a killed program takes more than a second to end.
#[derive(Debug, clap::Args)]
pub(crate) struct AttacksCommand {
    /// The attacks to run; all of them by default
    #[arg(long, value_name = "ATTACKS", value_delimiter = ',')]
    only: Vec<Attack>,

    /// How long to read during each attack, as in 10s
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    time: Duration,
}

impl AttacksCommand {
    /// Measures and prints the table. Fails if a limit does not hold.
    ///
    /// # Errors
    /// The step that failed.
    pub(super) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let attacks = if self.only.is_empty() { Attack::value_variants().to_vec() } else { self.only };
        // The first row is without an attack, for comparison.
        let rows: Vec<_> = std::iter::once(None).chain(attacks.into_iter().map(Some)).collect();
        let time = self.time;
        let progress = Progress::steps("attacks", rows.len());
        let outcomes = on_threads_of_its_own(async {
            let stop = stop_asked()?;
            let measured = async {
                let mut outcomes = Vec::new();
                for attack in &rows {
                    let outcome = MountedStore::measure(*attack, time).await?;
                    tell(&attack_table::line(*attack, &outcome));
                    outcomes.push((*attack, outcome));
                    progress.advance();
                }
                Ok(outcomes)
            };
            tokio::select! {
                done = measured => done,
                () = stop => Err("interrupted".to_owned()),
            }
        })?;
        drop(progress);
        show(&attack_table::report(&outcomes))?;
        let holds = outcomes.iter().all(|(_, outcome)| outcome.holds());
        Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

impl AttackOutcome {
    fn holds(&self) -> bool {
        let shares = [self.same_mount.share, self.other_mount.share];
        let is_right = self.same_mount.is_right && self.other_mount.is_right;
        is_right && shares.iter().all(|share| *share >= SHARE_MIN) && self.kill <= KILL_MAX
    }
}
