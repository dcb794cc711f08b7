//! `forerun generate`: the files of an installation that follow from the definitions of the commands.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Command;
use clap_complete::Shell;

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
        let failed = |error: std::io::Error| {
            let shown = self.directory.display();
            format!("{shown} cannot be written to: {error}; give a directory that you may write to")
        };
        clap_mangen::generate_to(program.clone(), &self.directory).map_err(failed)?;
        let mut program = without_hidden(&program);
        for shell in SHELLS {
            clap_complete::generate_to(shell, &mut program, "forerun", &self.directory).map_err(failed)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// `program` without the commands that its help hides: completions offer all that there are.
fn without_hidden(program: &Command) -> Command {
    let shown = program.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    Command::new("forerun").version(env!("CARGO_PKG_VERSION")).subcommands(shown)
}
