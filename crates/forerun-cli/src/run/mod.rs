//! `forerun run`: the mounts of a configuration file, each by a process of its own.

mod child;
mod configuration;
mod given;
mod keeper;
mod keys;
mod part;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::mount::service::Service;
use crate::print::say;
use configuration::Configuration;
use given::Given;
pub(crate) use part::{end_with_run, follow_log_level};

const EXAMPLES: &str = "\
Example of a file:
  memory = \"512MiB\"                # for every mount that does not say otherwise

  [[mount]]
  url = \"s3://my-bucket/data\"
  target = \"/mnt/data\"
  allow-other = true

  [[mount]]
  url = \"https://example.org/pub/\"
  target = \"/mnt/pub\"
  memory = \"1GiB\"

Signals: SIGHUP reads the file again, adds and removes mounts, and changes log levels. SIGTERM and SIGINT unmount all.";

/// Mount what a configuration file lists
///
/// Each mount has a process of its own, which is started again if it fails. The file has every long
/// option of `forerun mount` under the same name. An option of this command line goes before the file.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct RunCommand {
    /// The configuration file
    #[arg(long, value_name = "FILE", default_value = "/etc/forerun/forerun.toml")]
    config: PathBuf,

    /// Check the file, and mount nothing
    #[arg(long)]
    check: bool,

    #[command(flatten)]
    given: Given,
}

impl RunCommand {
    /// Mounts, and waits until all mounts have ended.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let file = std::path::absolute(&self.config)?;
        if self.check {
            let configuration = Configuration::check(&file, &self.given)?;
            say(&format!("{} is correct and lists {} mounts", file.display(), configuration.mounts.len()));
            return Ok(ExitCode::SUCCESS);
        }
        let configuration = Configuration::read(&file, &self.given)?;
        let settings = &configuration.settings;
        settings.log.start()?;
        let service = Service::new()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(keeper::keep(&file, &self.given, configuration, service.as_ref()))
    }
}
