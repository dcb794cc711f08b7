//! The judge, who sees all events and accuses Forerun of violations.

use std::collections::BTreeSet;
use std::fmt::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use forerun::{Entry, Error, ErrorKind};
use tokio::time::Instant;

use crate::fault::Fault;
use crate::manners::{Manners, Validator};
use crate::site::{Object, Site, Version, below};

/// A request is retried for 30 s, except that no pause may end later.
const PATIENCE_MIN: Duration = Duration::from_secs(25);
/// The time limit of an operation: every piece of a read may meet an outage of its own.
pub(crate) const DEADLINE: Duration = Duration::from_secs(300);

pub(crate) struct Judge {
    started: Instant,
    observations: Mutex<Observations>,
}

#[derive(Default)]
struct Observations {
    trace: Trace,
    /// The errors that faults so far explain: path and kind.
    explained: Vec<(String, ErrorKind)>,
    /// The duration of the longest operation so far.
    longest: Duration,
    /// The starts of operations under way.
    in_flight: Vec<Duration>,
    first_fault: Option<Duration>,
    faults: BTreeSet<String>,
    accusations: Vec<String>,
    asked: u64,
    answered: u64,
}

/// A record of all events, as a hash, and as text on demand.
#[derive(Debug)]
struct Trace {
    hash: u64,
    text: Option<String>,
}

impl Default for Trace {
    fn default() -> Trace {
        Trace { hash: 0xcbf2_9ce4_8422_2325, text: None }
    }
}

impl Write for Trace {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        if let Some(kept) = &mut self.text {
            kept.push_str(text);
        }
        Ok(())
    }
}

/// The outcome of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The violations, in order.
    pub accusations: Vec<String>,
    /// Equal for equal events at equal times.
    pub trace_hash: u64,
    /// The events as text, if they were kept.
    pub trace: String,
    /// The number of reads.
    pub read_count: u64,
    /// The kinds of faults that occurred.
    pub fault_kinds: Vec<String>,
    /// The duration of the longest operation.
    pub longest: Duration,
}

impl Judge {
    pub(crate) fn new(keeps_trace: bool) -> Judge {
        let trace = Trace { text: keeps_trace.then(String::new), ..Trace::default() };
        Judge {
            started: Instant::now(),
            observations: Mutex::new(Observations { trace, ..Observations::default() }),
        }
    }

    /// Virtual time since the start.
    pub(crate) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn with<T>(&self, work: impl FnOnce(&mut Observations) -> T) -> T {
        work(&mut self.observations.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn record(&self, event: fmt::Arguments<'_>) {
        let now = self.now().as_secs_f64();
        self.with(|seen| writeln!(seen.trace, "{now:12.6} {event}")).expect("a trace takes all text");
    }

    pub(crate) fn accuse(&self, what: fmt::Arguments<'_>) {
        self.record(format_args!("VIOLATION: {what}"));
        let now = self.now().as_secs_f64();
        self.with(|seen| seen.accusations.push(format!("at {now:.3} s: {what}")));
    }

    /// Records that a request about `path` meets `fault`.
    pub(crate) fn explain(&self, now: Duration, path: &str, fault: Fault) {
        self.with(|seen| {
            seen.first_fault.get_or_insert(now);
            seen.explained.extend(fault.explains().iter().map(|kind| (path.to_owned(), *kind)));
            let name = format!("{fault:?}");
            seen.faults.insert(name.split('(').next().unwrap_or_default().to_owned());
        });
    }

    /// Allows errors of this kind from now on.
    pub(crate) fn allow(&self, kind: ErrorKind) {
        self.with(|seen| seen.explained.push((String::new(), kind)));
    }

    /// Counts a read, which must be answered once.
    pub(crate) fn ask(&self) {
        self.with(|seen| seen.asked += 1);
    }

    pub(crate) fn answer(&self) {
        self.with(|seen| seen.answered += 1);
    }

    /// Whether a fault so far explains an error of this kind about `path`. The fault met a request
    /// about the path, about a path below it, or about a directory above it.
    pub(crate) fn is_explained(&self, path: &str, kind: ErrorKind) -> bool {
        let concerns = |met: &str| met == path || below(met, path).is_some() || below(path, met).is_some();
        self.with(|seen| seen.explained.iter().any(|(met, explained)| *explained == kind && concerns(met)))
    }

    /// Checks the `error` of the operation `what` about `path`. Faults, changes or `may_be` must
    /// explain it, and no retry may have ended too early.
    pub(crate) fn hear(&self, what: fmt::Arguments<'_>, path: &str, error: &Error, may_be: &[ErrorKind]) {
        self.record(format_args!("{what}: {:?} {error}", error.kind));
        if !may_be.contains(&error.kind) && !self.is_explained(path, error.kind) {
            self.accuse(format_args!("{what} ends in an error that nothing explains: {error}"));
        }
        let first_fault = self.with(|seen| seen.first_fault);
        let was_patient = first_fault.is_some_and(|first| self.now() >= first + PATIENCE_MIN);
        if error.is_transient() && !was_patient {
            self.accuse(format_args!("{what} is given up too early: {error}"));
        }
    }

    /// Records the begin of an operation, which ends with [`Judge::check_time`].
    pub(crate) fn begin(&self) -> Duration {
        let now = self.now();
        self.with(|seen| seen.in_flight.push(now));
        now
    }

    /// The earliest time whose state the answer to a question from `began` may show. Answers are
    /// valid for twice the `ttl` after they come. They may also be older by the duration of an
    /// operation that another program began.
    pub(crate) fn told_since(&self, began: Duration, ttl: Duration) -> Duration {
        let now = self.now();
        let longest = self.with(|seen| {
            let in_flight = seen.in_flight.iter().map(|began| now - *began);
            in_flight.max().unwrap_or_default().max(seen.longest)
        });
        began.saturating_sub(ttl * 2 + longest)
    }

    /// Records the end of the operation from `began`, and checks its duration.
    pub(crate) fn check_time(&self, what: fmt::Arguments<'_>, began: Duration) {
        let took = self.now() - began;
        self.with(|seen| {
            seen.longest = seen.longest.max(took);
            let ended = seen.in_flight.iter().position(|other| *other == began);
            seen.in_flight.swap_remove(ended.expect("it has begun"));
        });
        if took > DEADLINE {
            self.accuse(format_args!("{what} took {:.1} s", took.as_secs_f64()));
        }
    }

    pub(crate) fn verdict(&self) -> Verdict {
        self.with(|seen| {
            if seen.asked != seen.answered {
                let (asked, answered) = (seen.asked, seen.answered);
                seen.accusations.push(format!("{asked} reads were asked for, and {answered} answered"));
            }
            Verdict {
                accusations: seen.accusations.clone(),
                trace_hash: seen.trace.hash,
                trace: seen.trace.text.clone().unwrap_or_default(),
                read_count: seen.asked,
                fault_kinds: seen.faults.iter().cloned().collect(),
                longest: seen.longest,
            }
        })
    }
}

/// The version of `object` until `now` that `entry` names.
pub(crate) fn named<'o>(
    object: &'o Object,
    manners: &Manners,
    entry: &Entry,
    now: Duration,
) -> Option<&'o Version> {
    let named = &*entry.version.0;
    object.versions(now).find(|version| match (manners.etag(version), manners.validator) {
        (Some(etag), _) => named.ends_with(etag.trim_start_matches("W/")),
        (None, Validator::Modified) if manners.is_bucket => {
            named.starts_with(&format!("modified {} ", version.modified_s()))
        }
        (None, Validator::Modified) => named.ends_with(&httpdate::fmt_http_date(
            std::time::UNIX_EPOCH + Duration::from_secs(version.modified_s()),
        )),
        (None, _) => true,
    })
}

/// Whether `path` had changed by `now`.
pub(crate) fn has_changed(site: &Site, path: &str, now: Duration) -> bool {
    site.find(path).is_some_and(|object| object.has_changed(now))
}
