//! `forerun bench programs`: real programs on the mount, beside other ways to mount.

mod aim;
mod catalog;
mod comparison;
mod contender;
mod folder;
mod outcome;
mod program;
mod program_bench;
mod turns;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

pub(super) use self::aim::is_bound_by_processors;
use self::catalog::PROGRAMS;
pub(super) use self::catalog::{Program, ProgramFile};
pub(super) use self::comparison::{Comparison, json, misses, seconds_cell};
pub(super) use self::contender::Contender;
pub(super) use self::folder::Folder;
pub(super) use self::outcome::Summary;
pub(super) use self::program_bench::ProgramBench;
use super::session::{on_threads_of_its_own, stop_asked};
use crate::print::show;
use crate::progress::Progress;
use crate::units::parse_duration;

/// Measure real programs on the mount, beside other ways to mount
///
/// Runs programs that load model weights, read arrays, tables, archives and directories, on the
/// store of the demo. Each runs on a new mount of each contender in turn, and every result is
/// compared with that of the local copy. `make bench-programs` installs what they need. The data
/// set takes 4.8 GB of disk, and is built once.
#[derive(Debug, clap::Args)]
pub(crate) struct ProgramsCommand {
    /// The programs to run; all of them by default
    #[arg(long, value_name = "PROGRAMS", value_delimiter = ',', value_parser = Program::parse)]
    only: Vec<Program>,

    /// The contenders: forerun, none, 128k, rclone, and copy for the local copy
    #[arg(long, value_name = "CONTENDERS", value_delimiter = ',', value_parser = Contender::parse)]
    contenders: Vec<Contender>,

    /// How often to measure; medians count
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=99))]
    repeat: u32,

    /// How long a program may read, as in 60s; then it is ended
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration)]
    time: Duration,

    /// Mount the local copy as a directory instead of the store
    #[arg(long)]
    local: bool,

    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,

    /// The folder of the data set and of the virtual environment `venv`
    #[arg(long, value_name = "DIR", default_value = "target/bench-programs")]
    folder: PathBuf,
}

impl ProgramsCommand {
    /// Measures. Fails if a program failed or read wrong bytes, or if Forerun missed an aim.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let groups = on_threads_of_its_own(async {
            let stop = stop_asked()?;
            let folder = Folder::open(&self.folder).await?;
            let mut stand = ProgramBench::new(folder, self.local, self.time).await?;
            let done = tokio::select! {
                done = self.measure_all(&mut stand) => done,
                () = stop => Err("interrupted".to_owned()),
            };
            let closed = stand.close().await;
            done.and_then(|groups| closed.map(|()| groups))
        })?;
        let processors = std::thread::available_parallelism()?.get() as f64;
        let missed: Vec<_> =
            groups.iter().flat_map(|group| aim::missed(group, self.local, processors)).collect();
        show(&if self.json { json(&groups) } else { comparison::report(&groups, &missed, self.time) })?;
        let mut summaries = groups.iter().flat_map(|(_, each)| each);
        let is_wrong = summaries.any(|(_, summary)| summary.is_wrong || summary.has_failed);
        Ok(if is_wrong || !missed.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    async fn measure_all(&self, stand: &mut ProgramBench) -> Result<Vec<Comparison>, String> {
        let rows = if self.only.is_empty() { PROGRAMS.to_vec() } else { self.only.clone() };
        let progress = Progress::steps("bench programs", rows.len());
        let mut groups = Vec::new();
        for row in rows {
            groups.push((row, stand.measure_in_turns(row, self.contenders(), self.repeat).await?));
            progress.advance();
        }
        Ok(groups)
    }

    fn contenders(&self) -> Vec<Contender> {
        let all = Contender::ALL.into_iter().filter(|one| !self.local || *one != Contender::Rclone);
        if self.contenders.is_empty() { all.collect() } else { self.contenders.clone() }
    }
}
