//! `forerun doctor`.

mod finding;
mod machine;
mod memory_limits;
mod url;
mod watch;

use std::error::Error;
use std::process::ExitCode;

use forerun_lab::export::json::Json;

use crate::memory::MemorySize;
use crate::mount::SourceOptions;
use crate::print::show;
use crate::status;
use finding::{Finding, Level};

const EXAMPLES: &str = "\
Examples:
  Check this machine:
      forerun doctor
  Check also whether a bucket can be read with the credentials of this user:
      forerun doctor s3://my-bucket/data";

/// Check this machine and URLs for what would keep a mount from working
///
/// Each line is `ok`, `warning` or `fault`, and says what to do. The checks of a URL read one byte, and
/// change nothing. The status is 0 if nothing is at fault, and 3 otherwise.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct DoctorCommand {
    /// The URLs to check, as `forerun mount` takes them
    #[arg(value_name = "URL")]
    urls: Vec<String>,

    /// Check for a mount that other users may use
    #[arg(long)]
    allow_other: bool,

    /// Check for a mount with this much memory
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = MemorySize::parse)]
    memory: MemorySize,

    #[command(flatten)]
    source: SourceOptions,

    /// Print JSON instead of words
    #[arg(long)]
    json: bool,
}

impl DoctorCommand {
    /// Prints a line for each check, or one value of JSON.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let mut findings = machine::check(self.allow_other);
        findings.push(memory_limits::check(self.memory.bytes));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        for url in &self.urls {
            findings.extend(runtime.block_on(url::check(url, self.source.connect())));
        }
        if self.json {
            let mut json = Json::default();
            json.array(&findings, Finding::write);
            show(&json.finish())?;
        } else {
            show(&findings.iter().map(|finding| format!("{finding}\n")).collect::<String>())?;
        }
        let has_fault = findings.iter().any(|finding| finding.level == Level::Fault);
        Ok(if has_fault { status::FAULT.into() } else { ExitCode::SUCCESS })
    }
}
