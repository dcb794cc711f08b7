//! `forerun trace convert`, `cut` and `merge`: recordings made from recordings.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forerun_trace::{Cut, Format, Merge, Repair, Summary, Writer};

use super::recording::{RecordingInput, RecordingOutput, reading, report};
use crate::new_file::{check_new, check_output};
use crate::print::say;
use crate::units::{nanoseconds, parse_time};

/// Write a recording in another format
#[derive(Debug, clap::Args)]
pub(super) struct ConvertCommand {
    /// The recording to read
    #[arg(value_name = "IN")]
    input_path: PathBuf,

    /// The file to write; its name tells the format unless --to-format does
    #[arg(value_name = "OUT")]
    output: PathBuf,

    /// The format to write
    #[arg(long, value_name = "FORMAT")]
    to_format: Option<Format>,

    /// Make dependencies on submissions wait for completions
    ///
    /// Since 2015 rbd-replay-prep writes traces whose requests do not wait for the answers that the
    /// recorded program waited for. DURATION is the time that requests took on the recorded device, as
    /// in 0 or 5ms; the trace does not tell it. It is taken off each delay.
    #[arg(long, value_name = "DURATION", value_parser = parse_time)]
    repair: Option<Duration>,

    /// Replace OUT if it exists
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    input: RecordingInput,
}

impl ConvertCommand {
    pub(super) fn run(self) -> Result<(), Box<dyn Error>> {
        check_output(&self.output, &[&self.input_path])?;
        check_new(&self.output, self.force)?;
        let progress = reading("trace convert", &[&self.input_path]);
        let mut reader = self.input.open(&self.input_path, &progress)?;
        let mut writer = Writer::create(&self.output, self.to_format)?;
        let mut repair = self.repair.map(|service| Repair::new(nanoseconds(service)));
        let mut mended = 0;
        while let Some(access) = reader.next() {
            let mut access = access?;
            mended += repair.as_mut().map_or(0, |repair| repair.mend(&mut access));
            writer.write(&access, reader.files())?;
        }
        report(writer.finish(reader.files())?, &self.output);
        if repair.is_some() {
            say(&format!("{mended} dependencies now wait for completions"));
        }
        Ok(())
    }
}

/// Write a part of a recording
///
/// Keeps the accesses between two times, of all files or of some. Time begins at 0 again.
#[derive(Debug, clap::Args)]
pub(super) struct CutCommand {
    /// The recording to read
    #[arg(value_name = "IN")]
    input_path: PathBuf,

    /// The beginning of the part, as time since the start of the recording, as in 1500ms
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = parse_time)]
    from: Duration,

    /// The end of the part, as time since the start of the recording
    #[arg(long, value_name = "DURATION", value_parser = parse_time)]
    to: Option<Duration>,

    /// The name of a file to keep; may be given more than once
    #[arg(long = "file", value_name = "NAME")]
    files: Vec<String>,

    #[command(flatten)]
    output: RecordingOutput,

    #[command(flatten)]
    input: RecordingInput,
}

impl CutCommand {
    pub(super) fn run(self) -> Result<(), Box<dyn Error>> {
        let mut writer = self.output.create(&[&self.input_path])?;
        let progress = reading("trace cut", &[&self.input_path]);
        let mut reader = self.input.open(&self.input_path, &progress)?;
        let mut cut = Cut::new(nanoseconds(self.from), self.to.map(nanoseconds), self.files);
        let (mut summary, mut is_empty) = (Summary::default(), true);
        while let Some(access) = reader.next() {
            let access = access?;
            summary.add(&access);
            if let Some(access) = cut.keep(access, reader.files()) {
                writer.write(&access, reader.files())?;
                is_empty = false;
            }
        }
        let missing =
            cut.files.iter().find(|name| !reader.files().iter().any(|known| known == name.as_str()));
        if let Some(missing) = missing {
            let path = self.input_path.display();
            return Err(format!(
                "{path} has no file named {missing}; `forerun trace convert` to CSV shows the names"
            )
            .into());
        }
        report(writer.finish(reader.files())?, self.output.path());
        if is_empty {
            fs::remove_file(self.output.path())?;
            return Err(format!(
                "{} has no access in that part; its {} accesses are within {:.6} s",
                self.input_path.display(),
                summary.accesses,
                summary.duration_ns as f64 / 1e9
            )
            .into());
        }
        Ok(())
    }
}

/// Write several recordings as one, in the order of time
#[derive(Debug, clap::Args)]
pub(super) struct MergeCommand {
    /// The recordings to read
    #[arg(value_name = "IN", required = true, num_args = 1..)]
    inputs: Vec<PathBuf>,

    /// Keep the times and the threads of recordings from one machine
    ///
    /// Without this option all recordings begin at the same time, and no two share a thread.
    #[arg(long)]
    same_clock: bool,

    #[command(flatten)]
    output: RecordingOutput,

    #[command(flatten)]
    input: RecordingInput,
}

impl MergeCommand {
    pub(super) fn run(self) -> Result<(), Box<dyn Error>> {
        let inputs: Vec<&Path> = self.inputs.iter().map(PathBuf::as_path).collect();
        let mut writer = self.output.create(&inputs)?;
        let progress = reading("trace merge", &inputs);
        let readers =
            inputs.iter().map(|input| self.input.open(input, &progress)).collect::<Result<Vec<_>, _>>()?;
        let mut merge = Merge::new(readers, self.same_clock)?;
        while let Some(access) = merge.next() {
            writer.write(&access?, merge.files())?;
        }
        report(writer.finish(merge.files())?, self.output.path());
        Ok(())
    }
}
