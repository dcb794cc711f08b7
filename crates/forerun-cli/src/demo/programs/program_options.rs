//! The options that `bench programs` and `bench clients` share, and the steps that both take.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use super::catalog::Program;
use super::comparison::{Comparison, ProgramTable};
use super::contender::Contender;
use super::folder::Folder;
use super::program_bench::ProgramBench;
use super::program_json::json;
use crate::demo::session::{on_threads_of_its_own, stop_asked};
use crate::print::show;
use crate::progress::Progress;
use crate::units::parse_duration;

/// Options of both.
#[derive(Debug, clap::Args)]
pub(in crate::demo) struct ProgramOptions {
    /// How often to measure; medians count
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=99))]
    repeat: u32,

    /// How long a program may read, as in 120s; then it is ended
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = parse_duration)]
    time: Duration,

    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,

    /// The folder of the data set and of the virtual environments
    #[arg(long, value_name = "DIR", default_value = "target/bench-programs")]
    folder: PathBuf,
}

impl ProgramOptions {
    /// Measures each of `rows`. Contenders mount the store, or the local copy if `is_local`.
    ///
    /// # Errors
    /// The step that failed.
    pub(in crate::demo) fn measure(
        &self,
        title: &str,
        rows: Vec<(Program, Vec<Contender>)>,
        is_local: bool,
    ) -> Result<Vec<Comparison>, String> {
        on_threads_of_its_own(async {
            let stop = stop_asked()?;
            let folder = Folder::open(&self.folder)?;
            for (row, _) in &rows {
                folder.prepare(row.set).await?;
            }
            let mut stand = ProgramBench::new(folder, is_local, self.time);
            let measured = async {
                let progress = Progress::steps(title, rows.len());
                let mut groups = Vec::new();
                for (row, contenders) in rows {
                    groups.push((row, stand.measure_in_turns(row, contenders, self.repeat).await?));
                    progress.advance();
                }
                Ok(groups)
            };
            let done = tokio::select! {
                done = measured => done,
                () = stop => Err("interrupted".to_owned()),
            };
            let closed = stand.close().await;
            done.and_then(|groups| closed.map(|()| groups))
        })
    }

    /// Prints `groups`. Fails if a program failed or read wrong bytes, or if an aim was missed.
    pub(in crate::demo) fn conclude(
        &self,
        table: &ProgramTable,
        groups: &[Comparison],
        missed: &[String],
    ) -> Result<ExitCode, Box<dyn Error>> {
        show(&if self.json { json(groups) } else { table.report(groups, missed, self.time) })?;
        let mut summaries = groups.iter().flat_map(|(_, each)| each);
        let is_wrong = summaries.any(|(_, summary)| summary.is_wrong || summary.has_failed);
        Ok(if is_wrong || !missed.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}
