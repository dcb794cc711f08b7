//! `forerun bench programs`: real programs on the mount, beside other ways to mount.

mod aim;
mod between;
mod catalog;
mod comparison;
mod contender;
mod data_set;
mod folder;
mod outcome;
mod program;
mod program_bench;
mod program_json;
mod program_options;
mod turns;

use std::error::Error;
use std::process::ExitCode;

pub(super) use self::aim::is_bound_by_processors;
use self::catalog::PROGRAMS;
pub(super) use self::catalog::{Program, ProgramFile, expected};
use self::comparison::PROGRAM_TABLE;
pub(super) use self::comparison::{ProgramTable, mb_s_cell};
pub(super) use self::contender::Contender;
pub(super) use self::data_set::DataSet;
pub(super) use self::outcome::Summary;
pub(super) use self::program_options::ProgramOptions;

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

    /// Mount the local copy as a directory instead of the store
    #[arg(long)]
    local: bool,

    #[command(flatten)]
    options: ProgramOptions,
}

impl ProgramsCommand {
    /// Measures. Fails if a program failed or read wrong bytes, or if Forerun missed an aim.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let rows = if self.only.is_empty() { PROGRAMS.to_vec() } else { self.only.clone() };
        let rows = rows.into_iter().map(|row| (row, self.contenders())).collect();
        let groups = self.options.measure("bench programs", rows, self.local)?;
        let processors = std::thread::available_parallelism()?.get() as f64;
        let missed: Vec<_> =
            groups.iter().flat_map(|group| aim::missed(group, self.local, processors)).collect();
        self.options.conclude(&PROGRAM_TABLE, &groups, &missed)
    }

    fn contenders(&self) -> Vec<Contender> {
        let all = Contender::ALL.into_iter().filter(|one| !self.local || *one != Contender::Rclone);
        if self.contenders.is_empty() { all.collect() } else { self.contenders.clone() }
    }
}
