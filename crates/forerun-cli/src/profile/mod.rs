//! `forerun profile`.

mod made;
mod shown;

use std::error::Error;
use std::process::ExitCode;

use clap::Subcommand;

use self::made::{CutProfileCommand, MergeProfilesCommand};
use self::shown::ShowProfileCommand;

const EXAMPLES: &str = "\
Examples:
  The objects of a profile, and how much of each was read:
      forerun profile show boot.profile
  Two boots of the same image as one:
      forerun profile merge both.profile first.profile second.profile
  Only the first minute, and 500 MiB at most:
      forerun profile cut boot.profile --time 1m --bytes 500MiB -o start.profile

`forerun mount --learn FILE` records a profile and reads it ahead the next time. docs/profiles.md says more.";

/// Look at profiles, merge and cut them
///
/// A profile has the order in which the programs of a mount have touched objects and their bytes.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ProfileCommand {
    #[command(subcommand)]
    command: ProfileWork,
}

#[derive(Debug, Subcommand)]
enum ProfileWork {
    Show(ShowProfileCommand),
    Merge(MergeProfilesCommand),
    Cut(CutProfileCommand),
}

impl ProfileCommand {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        match self.command {
            ProfileWork::Show(show) => show.run()?,
            ProfileWork::Merge(merge) => merge.run()?,
            ProfileWork::Cut(cut) => cut.run()?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
