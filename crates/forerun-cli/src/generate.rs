//! `forerun generate`: the files of an installation that follow from the definitions of the commands.

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::status;

/// The shells whose completions are made.
const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

/// Write the man pages and the completions of shells, as `make install` needs them
#[derive(Debug, clap::Args)]
pub(crate) struct GenerateCommand {
    /// The directory to write them to
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl GenerateCommand {
    /// Writes the files of `program`: a page for each command that its help shows, and completions.
    pub(crate) fn run(self, program: Command) -> Result<ExitCode, Box<dyn Error>> {
        let failed = |error: io::Error| {
            let shown = self.directory.display();
            format!("{shown} cannot be written to: {error}; give a directory that you may write to")
        };
        let mut commands = program.clone().disable_help_subcommand(true);
        commands.build();
        write_pages(&commands, &self.directory).map_err(failed)?;
        let mut program = without_hidden(&program);
        for shell in SHELLS {
            clap_complete::generate_to(shell, &mut program, "forerun", &self.directory).map_err(failed)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes the pages of `command` and of all below it that the help shows.
fn write_pages(command: &Command, directory: &Path) -> io::Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write_pages(below, directory)?;
    }
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    man.render(&mut page)?;
    page.extend_from_slice(status::page().as_bytes());
    fs::write(directory.join(man.get_filename()), page)
}

/// `program` without the commands that its help hides: completions offer all that there are.
fn without_hidden(program: &Command) -> Command {
    let shown = program.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    Command::new("forerun").version(env!("CARGO_PKG_VERSION")).subcommands(shown)
}
