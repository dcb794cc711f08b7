//! `forerun trace`.

mod formats;
mod generated;
mod info;
mod recording;
mod shape;

use std::error::Error;
use std::process::ExitCode;

use clap::Subcommand;

pub(crate) use self::recording::RecordingInput;

const EXAMPLES: &str = "\
Examples:
  The contents of a recording:
      forerun trace info boot.csv.gz
  A recording for fio to replay:
      forerun trace convert boot.rbdreplay boot.iolog
  The files that blktrace wrote, one for each CPU, as one:
      forerun trace merge --same-clock sda.blktrace.0 sda.blktrace.1 -o sda.csv
  Four streams of one file, each thinking 2 ms after each read:
      forerun trace generate interleaved --streams 4 --think 2ms -o four.csv
  Five clients of a file server, each writing ten files of 30 MB and reading them back:
      forerun trace generate file-server --clients 5 --size 30MB --request 8KiB -o server.frt

Formats: see `forerun trace formats`. Files whose name ends in .gz or .bz2 are compressed.";

/// Look at recorded accesses, convert and generate them
///
/// Reads the recordings of many tools, shows their sizes, order and times, converts them into one
/// another, and generates the patterns that readahead meets.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct TraceCommand {
    #[command(subcommand)]
    command: RecordingCommand,
}

#[derive(Debug, Subcommand)]
enum RecordingCommand {
    Info(info::InfoCommand),
    Convert(shape::ConvertCommand),
    Cut(shape::CutCommand),
    Merge(shape::MergeCommand),
    Generate(generated::GenerateRecordingCommand),
    Formats(formats::FormatsCommand),
}

impl TraceCommand {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        match self.command {
            RecordingCommand::Info(info) => info.run()?,
            RecordingCommand::Convert(convert) => convert.run()?,
            RecordingCommand::Cut(cut) => cut.run()?,
            RecordingCommand::Merge(merge) => merge.run()?,
            RecordingCommand::Generate(generate) => generate.run()?,
            RecordingCommand::Formats(formats) => formats.run()?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
