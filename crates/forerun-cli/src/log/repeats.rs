//! Warnings that say the same again: shown once, and counted.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use super::record::Record;
use super::sink::Sink;

/// For how long a warning is not shown again.
const WINDOW: Duration = Duration::from_secs(60);
/// How many different warnings are remembered, and how many bytes of each: 1 MiB at most, with its
/// last record. Other warnings are shown each time.
const WARNINGS_MAX: usize = 256;
const WARNING_BYTES_MAX: usize = 2 << 10;

/// Tells a sink every record, but a warning once in each [`WINDOW`], and its count after that.
#[derive(Debug)]
pub(super) struct Repeats {
    sink: Sink,
    told: Mutex<Told>,
}

#[derive(Debug, Default)]
struct Told {
    warnings: HashMap<String, Warning>,
    is_watched: bool,
}

#[derive(Debug)]
struct Warning {
    since: Instant,
    /// The record of the last time.
    record: Record,
    repeats: u64,
}

impl Repeats {
    pub(super) fn new(sink: Sink) -> Arc<Repeats> {
        Arc::new(Repeats { sink, told: Mutex::default() })
    }

    /// Tells of all that was repeated and is not told yet.
    pub(super) fn sum_up(&self) {
        let warnings = std::mem::take(&mut self.told.lock().warnings);
        warnings.values().for_each(|warning| self.tell_count(warning));
    }

    fn tell(self: &Arc<Repeats>, record: &Record) {
        let is_new = record.level > Level::WARN || self.told.lock().is_new(record, Instant::now());
        if is_new {
            return self.sink.write(record);
        }
        if !std::mem::replace(&mut self.told.lock().is_watched, true) {
            let repeats = Arc::clone(self);
            // Without the thread the count is told when the program ends.
            let _ = thread::Builder::new().name("forerun-log".to_owned()).spawn(move || repeats.watch());
        }
    }

    /// Tells of repeated warnings when their time is over, as long as there are any.
    fn watch(&self) {
        loop {
            // Time itself ends a window, and nothing else wakes this thread.
            thread::sleep(WINDOW / 60);
            let mut told = self.told.lock();
            let ended = told.take_ended(Instant::now());
            told.is_watched = !told.warnings.is_empty();
            let goes_on = told.is_watched;
            drop(told);
            ended.iter().for_each(|warning| self.tell_count(warning));
            if !goes_on {
                return;
            }
        }
    }

    fn tell_count(&self, warning: &Warning) {
        let Warning { record, repeats, .. } = warning;
        if *repeats > 0 {
            let times = if *repeats == 1 { "once more" } else { &format!("{repeats} more times") };
            let message = format!("{} (said {times} since it was shown)", record.message);
            self.sink.write(&Record { message, ..record.clone() });
        }
    }
}

impl Told {
    /// Whether a warning is to be shown: it was not shown lately, or cannot be remembered.
    fn is_new(&mut self, record: &Record, now: Instant) -> bool {
        if record.message.len() > WARNING_BYTES_MAX {
            return true;
        }
        let meaning = meaning(record);
        if let Some(warning) = self.warnings.get_mut(&meaning)
            && (warning.repeats > 0 || now.duration_since(warning.since) < WINDOW)
        {
            warning.repeats += 1;
            record.clone_into(&mut warning.record);
            return false;
        }
        if self.warnings.len() >= WARNINGS_MAX {
            self.warnings.retain(|_, old| old.repeats > 0 || now.duration_since(old.since) < WINDOW);
        }
        if self.warnings.len() < WARNINGS_MAX {
            self.warnings.insert(meaning, Warning { since: now, record: record.clone(), repeats: 0 });
        }
        true
    }

    /// The warnings whose time is over.
    fn take_ended(&mut self, now: Instant) -> Vec<Warning> {
        let ended = self.warnings.extract_if(|_, warning| now.duration_since(warning.since) >= WINDOW);
        ended.map(|(_, warning)| warning).collect()
    }
}

/// The meaning of `record`, without its time and numbers, such as how long something took. A number in
/// the name of an object is part of a longer word.
fn meaning(record: &Record) -> String {
    let is_number = |word: &str| word.trim_end_matches([',', ';', ':']).parse::<f64>().is_ok();
    let words = record.message.split(' ').map(|word| if is_number(word) { "#" } else { word });
    format!("{} {}: {}", record.level, record.target, words.collect::<Vec<_>>().join(" "))
}

/// Makes records of events.
#[derive(Debug)]
pub(super) struct Records(pub(super) Arc<Repeats>);

impl<S: Subscriber> Layer<S> for Records {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        self.0.tell(&Record::new(event));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(message: &str) -> Record {
        let (time, target) = ("2026-11-25T06:51:31Z".to_owned(), "forerun::mount".to_owned());
        Record { time, level: Level::WARN, target, message: message.to_owned() }
    }

    #[test]
    fn a_warning_is_new_once_in_a_while() {
        let (mut told, start) = (Told::default(), Instant::now());
        let failed = record("http://host/7: gave up after 2 tries in 2.0 s");
        let later = Record { time: "2026-11-25T06:51:33Z".to_owned(), ..failed.clone() };
        let again = Record { message: failed.message.replace("2 tries in 2.0", "12 tries in 31.5"), ..later };
        assert!(told.is_new(&failed, start));
        assert!(!told.is_new(&again, start + WINDOW / 2));
        assert!(
            told.is_new(&record(&failed.message.replace("host/7", "host/8")), start),
            "of another object"
        );
        assert!(told.take_ended(start + WINDOW / 2).is_empty());
        let ended = told.take_ended(start + WINDOW);
        let counted: Vec<_> = ended.iter().filter(|warning| warning.repeats > 0).collect();
        assert_eq!((counted.len(), counted[0].repeats, &counted[0].record), (1, 1, &again));
        assert!(told.is_new(&failed, start + WINDOW));
    }

    #[test]
    fn the_remembered_warnings_have_a_bound() {
        let (mut told, start) = (Told::default(), Instant::now());
        for number in 0..2 * WARNINGS_MAX {
            assert!(told.is_new(&record(&format!("object-{number} failed")), start));
        }
        assert_eq!(told.warnings.len(), WARNINGS_MAX);
        let long = record(&"x".repeat(WARNING_BYTES_MAX + 1));
        assert!(told.is_new(&long, start) && told.is_new(&long, start));
        assert!(told.is_new(&record("another failed"), start + WINDOW));
        assert_eq!(told.warnings.len(), 1, "the old ones are over");
    }
}
