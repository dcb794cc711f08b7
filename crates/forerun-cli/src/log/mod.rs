//! Where the program's log goes.

mod record;
mod repeats;
mod sink;
mod system;

use std::fs::OpenOptions;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Registry, reload};

use crate::mount::daemon;
use crate::print::say;
use repeats::{Records, Repeats};
use sink::{Destination, Sink};
use system::System;

/// Each place of the log, with the warnings that may have been repeated since it showed them.
static TELLERS: OnceLock<Vec<Arc<Repeats>>> = OnceLock::new();
/// How much is logged.
static FILTER: OnceLock<reload::Handle<EnvFilter, Registry>> = OnceLock::new();

/// How records are written, and to which log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Lines for people, on standard error or in a file
    Text,
    /// An object of JSON on each line, on standard error or in a file
    Json,
    /// The journal of systemd
    Journald,
    /// The system's log
    Syslog,
}

/// Sends the log to `file`, or to standard error, or where `format` says. Without a format, the journal
/// gets it by its own protocol if it reads standard error. Without both, the log of a daemon goes to
/// syslog as well, since nobody sees its standard error. `verbose` counts `-v`. `FORERUN_LOG` (as in
/// `forerun=debug`) overrides it.
///
/// # Errors
/// If the log cannot be written there.
pub(crate) fn start(verbose: u8, file: Option<&Path>, format: Option<Format>) -> Result<(), String> {
    let (filter, handle) = reload::Layer::new(filter(verbose)?);
    let first = Repeats::new(sink(file, format)?);
    let is_unseen = daemon::is_daemon() && file.is_none() && format.is_none();
    let second = if is_unseen { syslog_of_daemon() } else { None };
    let all = [Some(&first), second.as_ref()].into_iter().flatten().map(Arc::clone).collect();
    let layers = (Records(first), second.map(Records));
    tracing_subscriber::registry().with(filter).with(layers.0).with(layers.1).init();
    // The log is started once.
    let _ = (TELLERS.set(all), FILTER.set(handle));
    Ok(())
}

/// Logs as much as `verbose` says from now on, unless `FORERUN_LOG` is set.
pub(crate) fn change(verbose: u8) {
    if let (Some(handle), None) = (FILTER.get(), chosen()) {
        // The log of this program never ends before the program.
        let _ = handle.reload(EnvFilter::new(usual(verbose)));
        tracing::info!(target: "forerun::mount", "the log level is now {}", usual(verbose));
    }
}

/// The first filter of the log.
fn filter(verbose: u8) -> Result<EnvFilter, String> {
    let Some(wanted) = chosen() else { return Ok(EnvFilter::new(usual(verbose))) };
    EnvFilter::try_new(&wanted).map_err(|error| {
        format!("FORERUN_LOG=`{wanted}` cannot be used ({error}): try FORERUN_LOG=forerun=debug")
    })
}

/// The levels in `FORERUN_LOG`.
fn chosen() -> Option<String> {
    std::env::var("FORERUN_LOG").ok().filter(|wanted| !wanted.is_empty())
}

/// The levels with `-v` so often. All targets start with `forerun::`.
fn usual(verbose: u8) -> &'static str {
    match verbose {
        0 => "warn",
        1 => "warn,forerun=info",
        2 => "info,forerun=debug",
        _ => "debug,forerun=trace",
    }
}

/// Shows the counts that are not shown yet. The program ends after that.
pub(crate) fn end() {
    TELLERS.get().into_iter().flatten().for_each(|teller| teller.sum_up());
}

fn sink(file: Option<&Path>, format: Option<Format>) -> Result<Sink, String> {
    let system = |name: &str, connected: io::Result<System>| {
        let place = connected.map(Destination::System).map_err(|error| {
            format!("{name} cannot be written: {error}; start it, or give another --log-format")
        });
        Ok(Sink { place: place?, is_json: false, has_colors: false })
    };
    let is_journal = file.is_none() && format.is_none() && system::journal_reads_stderr();
    if let Some(journal) = is_journal.then(System::journal).and_then(Result::ok) {
        return Ok(Sink { place: Destination::System(journal), is_json: false, has_colors: false });
    }
    let is_json = format == Some(Format::Json);
    match (file, format) {
        (Some(_), Some(Format::Journald | Format::Syslog)) => {
            Err("--log FILE takes text or json: leave out --log, or give one of these by --log-format"
                .to_owned())
        }
        (Some(path), _) => Ok(Sink { place: Destination::File(open(path)?), is_json, has_colors: false }),
        (None, Some(Format::Journald)) => system("the journal of systemd", System::journal()),
        (None, Some(Format::Syslog)) => system(System::SYSLOG, System::syslog()),
        (None, _) => Ok(Sink { place: Destination::Stderr, is_json, has_colors: io::stderr().is_terminal() }),
    }
}

fn open(path: &Path) -> Result<std::fs::File, String> {
    OpenOptions::new().create(true).append(true).open(path).map_err(|error| {
        let shown = path.display();
        format!("the log file {shown} cannot be written: {error}; give --log a file that you may write")
    })
}

/// The system's log; none, which the user is told, where nobody keeps one.
fn syslog_of_daemon() -> Option<Arc<Repeats>> {
    match System::syslog() {
        Ok(system) => {
            let sink = Sink { place: Destination::System(system), is_json: false, has_colors: false };
            Some(Repeats::new(sink))
        }
        Err(error) => {
            say(&format!(
                "warnings of the daemon go nowhere, since {} cannot be written: {error}; start it with \
                 --log FILE to keep them",
                System::SYSLOG
            ));
            None
        }
    }
}
