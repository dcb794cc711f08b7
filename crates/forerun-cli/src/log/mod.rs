//! Where the program's log goes.

mod repeats;
mod sink;

use std::fs::OpenOptions;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, fmt};

use crate::mount::daemon;
use crate::print::say;
use repeats::{Lines, Repeats};
use sink::{Sink, Syslog};

/// Each place of the log, with the warnings that may have been repeated since it showed them.
static TELLERS: OnceLock<Vec<Arc<Repeats>>> = OnceLock::new();

/// Sends the log to `file`, or to standard error; of a daemon also to the system's log, since nobody
/// sees its standard error. `verbose` counts `-v`. `FORERUN_LOG` (as in `forerun=debug`) overrides it.
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
    let syslog = if daemon::is_daemon() && file.is_none() { syslog() } else { None };
    let all = [Some(&teller), syslog.as_ref()].into_iter().flatten().map(Arc::clone).collect();
    // Nor is it told on standard error that standard error is closed.
    let shown = fmt::layer().with_writer(Lines(teller)).with_ansi(with_colors).log_internal_errors(false);
    let kept = syslog.map(|teller| {
        // The system's log has times and levels of its own.
        let plain = fmt::layer().without_time().with_level(false).with_ansi(false);
        plain.with_writer(Lines(teller)).log_internal_errors(false)
    });
    tracing_subscriber::registry().with(filter).with(shown).with(kept).init();
    // The log is started once.
    let _ = TELLERS.set(all);
    Ok(())
}

/// Shows the counts that are not shown yet. The program ends after that.
pub(crate) fn end() {
    TELLERS.get().into_iter().flatten().for_each(|teller| teller.sum_up());
}

fn open(path: &Path) -> Result<std::fs::File, String> {
    OpenOptions::new().create(true).append(true).open(path).map_err(|error| {
        let shown = path.display();
        format!("the log file {shown} cannot be written: {error}; give --log a file that you may write")
    })
}

/// The system's log; none, which the user is told, where nobody keeps one.
fn syslog() -> Option<Arc<Repeats>> {
    match Syslog::connect() {
        Ok(syslog) => Some(Repeats::new(Sink::Syslog(syslog))),
        Err(error) => {
            say(&format!(
                "warnings of the daemon go nowhere, since {} cannot be written: {error}; start it with \
                 --log FILE to keep them",
                Syslog::SOCKET
            ));
            None
        }
    }
}
