//! `forerun explain`.

mod find;
mod json;
mod numbers;
mod object_words;
mod socket;
mod socket_folder;
mod subject;
mod words;

use std::error::Error;
use std::process::ExitCode;

pub(crate) use find::{Running, running};
pub(crate) use numbers::{size, time};
pub(crate) use socket::Socket;
pub(crate) use subject::Subject;

use crate::print::show;

const EXAMPLES: &str = "\
Examples:
  The only mount that is running:
      forerun explain
  One of several, by its directory, its URL or its process:
      forerun explain /mnt/data
      forerun explain s3://my-bucket/data
      forerun explain 4711
  For a program:
      forerun explain --json /mnt/data";

/// Show what a running mount reads ahead, and why
///
/// For each open object it shows the streams: their kind, position and window, and the reason for
/// the window. For each object it also shows how much readahead was in time, late or wasted. It
/// finds the mounts that the same user has started.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ExplainCommand {
    /// The mount: its directory, its URL or its process; needed if there is more than one
    #[arg(value_name = "URL|PID|DIR")]
    mount: Option<String>,

    /// Print JSON instead of words
    #[arg(long)]
    json: bool,
}

impl ExplainCommand {
    /// Asks, and prints the answer.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let mount = find::find(self.mount.as_deref())?;
        let answer = mount.ask(if self.json { "json" } else { "words" })?;
        show(&answer)?;
        Ok(ExitCode::SUCCESS)
    }
}
