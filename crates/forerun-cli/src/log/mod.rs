//! Where the program's log goes.

mod repeats;
mod sink;

use std::fs::OpenOptions;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use tracing_subscriber::EnvFilter;

use repeats::{Lines, Repeats};
use sink::Sink;

/// The log's place, with the warnings that may have been repeated since it showed them.
static TELLER: OnceLock<Arc<Repeats>> = OnceLock::new();

/// Sends the log to `file`, or to standard error; `verbose` counts `-v`.
/// `FORERUN_LOG` (as in `forerun=debug`) overrides it.
///
/// # Errors
/// If `file` cannot be written.
pub(crate) fn start(verbose: u8, file: Option<&Path>) -> Result<(), String> {
    // All targets start with `forerun::`.
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
    let (sink, with_colors) = match file {
        None => (Sink::Stderr, io::stderr().is_terminal()),
        Some(path) => (Sink::File(open(path)?), false),
    };
    let teller = Repeats::new(sink);
    // The log is started once.
    let _ = TELLER.set(Arc::clone(&teller));
    // Nor is it told on standard error that standard error is closed.
    let log = tracing_subscriber::fmt().with_env_filter(filter).log_internal_errors(false);
    log.with_writer(Lines(teller)).with_ansi(with_colors).init();
    Ok(())
}

/// Shows the counts that are not shown yet. The program ends after that.
pub(crate) fn end() {
    TELLER.get().into_iter().for_each(|teller| teller.sum_up());
}

fn open(path: &Path) -> Result<std::fs::File, String> {
    OpenOptions::new().create(true).append(true).open(path).map_err(|error| {
        let shown = path.display();
        format!("the log file {shown} cannot be written: {error}; give --log a file that you may write")
    })
}
