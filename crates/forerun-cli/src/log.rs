//! Where the program's log goes.

use std::fs::OpenOptions;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Arc;

use tracing_subscriber::EnvFilter;

/// Sends the log to `file`, or to standard error; `verbose` counts `-v`.
/// `FORERUN_LOG` (as in `forerun=debug`) overrides it.
///
/// # Errors
/// If `file` cannot be written.
pub(crate) fn start(verbose: u8, file: Option<&Path>) -> Result<(), String> {
    // The names of our crates all start with `forerun`.
    let usual = match verbose {
        0 => "warn",
        1 => "warn,forerun=info",
        2 => "info,forerun=debug",
        _ => "debug,forerun=trace",
    };
    let filter = match std::env::var("FORERUN_LOG") {
        Ok(wanted) if !wanted.is_empty() => EnvFilter::try_new(&wanted).map_err(|error| {
            format!("FORERUN_LOG=`{wanted}` cannot be used ({error}): try FORERUN_LOG=forerun=debug")
        })?,
        _ => EnvFilter::new(usual),
    };
    // Nor is it told on standard error that standard error is closed.
    let log = tracing_subscriber::fmt().with_env_filter(filter).log_internal_errors(false);
    match file {
        None => log.with_writer(io::stderr).with_ansi(io::stderr().is_terminal()).init(),
        Some(path) => {
            let file = OpenOptions::new().create(true).append(true).open(path).map_err(|error| {
                let shown = path.display();
                format!(
                    "the log file {shown} cannot be written: {error}; give --log a file that you may write"
                )
            })?;
            log.with_writer(Arc::new(file)).with_ansi(false).init();
        }
    }
    Ok(())
}
