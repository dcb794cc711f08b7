//! Sees everything, and says what must not be.

use std::collections::BTreeSet;
use std::fmt::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use forerun::{Entry, Error, ErrorKind};
use tokio::time::Instant;

use crate::fault::Fault;
use crate::manners::{Manners, Validator};
use crate::site::{Object, Site, Version, below};

/// A request is tried again for 30 s, less the pause that would end later.
const PATIENCE_MIN: Duration = Duration::from_secs(25);
/// An operation ends within this time: every piece of a read may meet an outage of its own.
pub(crate) const DEADLINE: Duration = Duration::from_secs(300);

pub(crate) struct Judge {
    started: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    trace: Trace,
    /// Kinds of error that faults so far explain, and of which path.
    explained: Vec<(String, ErrorKind)>,
    /// The longest operation that has ended.
    longest: Duration,
    /// When those began that have not.
    in_flight: Vec<Duration>,
    first_fault: Option<Duration>,
    faults: BTreeSet<String>,
    accusations: Vec<String>,
    asked: u64,
    answered: u64,
}

/// What happened, as a hash, and as text if somebody wants to read it.
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

/// What a schedule ended in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What must not be, in order.
    pub accusations: Vec<String>,
    /// Equal for equal events at equal times.
    pub trace_hash: u64,
    /// The events, if they were to be kept.
    pub trace: String,
    /// Reads that were asked for.
    pub read_count: u64,
    /// Kinds of faults that were met.
    pub fault_kinds: Vec<String>,
    /// The longest operation.
    pub longest: Duration,
}

impl Judge {
    pub(crate) fn new(keeps_trace: bool) -> Judge {
        let trace = Trace { text: keeps_trace.then(String::new), ..Trace::default() };
        Judge { started: Instant::now(), state: Mutex::new(State { trace, ..State::default() }) }
    }

    /// Virtual time since the start.
    pub(crate) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn note(&self, event: fmt::Arguments<'_>) {
        let now = self.now().as_secs_f64();
        self.with(|state| writeln!(state.trace, "{now:12.6} {event}")).expect("a trace takes all text");
    }

    pub(crate) fn accuse(&self, what: fmt::Arguments<'_>) {
        self.note(format_args!("VIOLATION: {what}"));
        let now = self.now().as_secs_f64();
        self.with(|state| state.accusations.push(format!("at {now:.3} s: {what}")));
    }

    /// A request about `path` meets `fault`.
    pub(crate) fn explain(&self, now: Duration, path: &str, fault: Fault) {
        self.with(|state| {
            state.first_fault.get_or_insert(now);
            state.explained.extend(fault.explains().iter().map(|kind| (path.to_owned(), *kind)));
            let name = format!("{fault:?}");
            state.faults.insert(name.split('(').next().unwrap_or_default().to_owned());
        });
    }

    /// From now on errors of this kind are right, whatever becomes of requests.
    pub(crate) fn allow(&self, kind: ErrorKind) {
        self.with(|state| state.explained.push((String::new(), kind)));
    }

    /// A read begins; it must be answered once.
    pub(crate) fn ask(&self) {
        self.with(|state| state.asked += 1);
    }

    pub(crate) fn answer(&self) {
        self.with(|state| state.answered += 1);
    }

    /// Whether a fault so far may make an error of this kind about `path`: it met a request about
    /// that, about what is in it, or about a directory that it is in.
    pub(crate) fn is_explained(&self, path: &str, kind: ErrorKind) -> bool {
        let concerns = |met: &str| met == path || below(met, path).is_some() || below(path, met).is_some();
        self.with(|state| state.explained.iter().any(|(met, explained)| *explained == kind && concerns(met)))
    }

    /// Faults, changes, or what `may_be` besides must explain `error` about `path`, which `what` ended in.
    pub(crate) fn hear(&self, what: fmt::Arguments<'_>, path: &str, error: &Error, may_be: &[ErrorKind]) {
        self.note(format_args!("{what}: {:?} {error}", error.kind));
        if !may_be.contains(&error.kind) && !self.is_explained(path, error.kind) {
            self.accuse(format_args!("{what} ends in an error that nothing explains: {error}"));
        }
        let first_fault = self.with(|state| state.first_fault);
        let was_patient = first_fault.is_some_and(|first| self.now() >= first + PATIENCE_MIN);
        if error.is_transient() && !was_patient {
            self.accuse(format_args!("{what} is given up too early: {error}"));
        }
    }

    /// An operation begins, whose end is told to [`Judge::check_time`].
    pub(crate) fn begin(&self) -> Duration {
        let now = self.now();
        self.with(|state| state.in_flight.push(now));
        now
    }

    /// From when on what is told to a question that `began` then may be true. Answers are believed
    /// from when they came, and older by what the question took, which somebody else may have begun.
    pub(crate) fn told_since(&self, began: Duration, ttl: Duration) -> Duration {
        let now = self.now();
        let longest = self.with(|state| {
            let in_flight = state.in_flight.iter().map(|began| now - *began);
            in_flight.max().unwrap_or_default().max(state.longest)
        });
        began.saturating_sub(ttl * 2 + longest)
    }

    /// What began then must have ended in time.
    pub(crate) fn check_time(&self, what: fmt::Arguments<'_>, began: Duration) {
        let took = self.now() - began;
        self.with(|state| {
            state.longest = state.longest.max(took);
            let ended = state.in_flight.iter().position(|other| *other == began);
            state.in_flight.swap_remove(ended.expect("it has begun"));
        });
        if took > DEADLINE {
            self.accuse(format_args!("{what} took {:.1} s", took.as_secs_f64()));
        }
    }

    pub(crate) fn verdict(&self) -> Verdict {
        self.with(|state| {
            if state.asked != state.answered {
                let (asked, answered) = (state.asked, state.answered);
                state.accusations.push(format!("{asked} reads were asked for, and {answered} answered"));
            }
            Verdict {
                accusations: state.accusations.clone(),
                trace_hash: state.trace.hash,
                trace: state.trace.text.clone().unwrap_or_default(),
                read_count: state.asked,
                fault_kinds: state.faults.iter().cloned().collect(),
                longest: state.longest,
            }
        })
    }
}

/// The version that `entry` names, of those that `object` had until `now`.
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
