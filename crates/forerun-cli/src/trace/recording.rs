//! The recordings that a command reads and writes.

use std::error::Error;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use forerun_trace::{Format, ReadOptions, Reader, Writer, Written};

use crate::new_file::{check_new, check_output};
use crate::print::say;
use crate::progress::Progress;

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
        ReadOptions::default().with_format(self.format).with_dispatched(self.dispatched)
    }

    /// Opens the recording at `path`, which `progress` watches.
    pub(super) fn open(&self, path: &Path, progress: &Progress) -> Result<Reader, forerun_trace::Error> {
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Reader::new(progress.read(file), &name, self.options()),
            Err(source) => Err(forerun_trace::Error::Io { name, doing: "open it", source }),
        }
    }
}

/// The progress of work called `title` that reads all of `paths`.
pub(super) fn reading(title: &str, paths: &[&Path]) -> Progress {
    let bytes = |path: &&Path| fs::metadata(path).map_or(0, |file| file.len());
    Progress::bytes(title, paths.iter().map(bytes).sum())
}

/// Options for the output, shared by the commands that have one.
#[derive(Debug, clap::Args)]
pub(super) struct RecordingOutput {
    /// The file to write; its name tells the format unless --to-format does
    #[arg(short = 'o', long = "output", value_name = "OUT")]
    path: PathBuf,

    /// The format to write
    #[arg(long, value_name = "FORMAT")]
    to_format: Option<Format>,

    /// Replace OUT if it exists
    #[arg(long)]
    force: bool,
}

impl RecordingOutput {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn create(&self, inputs: &[&Path]) -> Result<Writer, Box<dyn Error>> {
        check_output(&self.path, inputs)?;
        check_new(&self.path, self.force)?;
        Ok(Writer::create(&self.path, self.to_format)?)
    }
}

/// Reports accesses that the output's format cannot express.
pub(super) fn report(written: Written, output: &Path) {
    if written.left_out > 0 {
        say(&format!(
            "{} of {} accesses are not in {}: its format cannot express them",
            written.left_out,
            written.left_out + written.written,
            output.display()
        ));
    }
}
