//! `forerun trace`.

mod generated;
mod info;
mod shape;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Subcommand;
use forerun_trace::{Format, ReadOptions, Reader, Written};

use crate::print::{say, show};
use crate::units::parse_duration;

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
    /// List the formats
    Formats,
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
            RecordingCommand::Formats => show(&formats())?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Options for reading recordings, shared by several commands.
#[derive(Debug, clap::Args)]
pub(crate) struct RecordingInput {
    /// The format of the input, if its content and its name do not tell
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// Read the dispatched requests of block layer recordings, with service times
    ///
    /// Recordings of blktrace and ftrace have the requests that programs queued, which are read by
    /// default. They also have the merged requests that the device received, which this option reads.
    #[arg(long)]
    dispatched: bool,
}

impl RecordingInput {
    /// As options of the trace crate.
    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions { format: self.format, dispatched: self.dispatched }
    }

    fn open(&self, path: &Path) -> Result<Reader, forerun_trace::Error> {
        Reader::open(path, self.options())
    }
}

/// Refuses to overwrite an input.
pub(crate) fn check_output(output: &Path, inputs: &[&Path]) -> Result<(), String> {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    match real(output).is_some_and(|output| inputs.iter().any(|input| real(input) == Some(output.clone()))) {
        true => Err(format!("{} is both read and written; write to another file", output.display())),
        false => Ok(()),
    }
}

/// Refuses to overwrite a recording without `--force`.
fn check_new(output: &Path, force: bool) -> Result<(), String> {
    match !force && output.is_file() {
        true => Err(format!("{} exists: write to another file, or replace it by --force", output.display())),
        false => Ok(()),
    }
}

/// Reports accesses that the output's format cannot express.
fn report(written: Written, output: &Path) {
    if written.left_out > 0 {
        say(&format!(
            "{} of {} accesses are not in {}: its format cannot express them",
            written.left_out,
            written.left_out + written.written,
            output.display()
        ));
    }
}

fn formats() -> String {
    let row = |format: Format| {
        format!("{format:<14} {}\n", if format.is_writable() { "read, write" } else { "read" })
    };
    Format::all().map(row).collect()
}

/// As [`parse_duration`], and microseconds.
pub(crate) fn parse_time(text: &str) -> Result<Duration, String> {
    match text.strip_suffix("us").map(str::parse) {
        Some(Ok(microseconds)) => Ok(Duration::from_micros(microseconds)),
        _ => parse_duration(text),
    }
}

pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
