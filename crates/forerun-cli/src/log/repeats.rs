//! Warnings that say the same again: shown once, and counted.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

use super::sink::Sink;

/// For how long a warning is not shown again.
const WINDOW: Duration = Duration::from_secs(60);
/// How many different warnings are remembered, and how many bytes of each: 1 MiB at most, with its
/// last line. Other warnings are shown each time.
const WARNINGS_MAX: usize = 256;
const WARNING_BYTES_MAX: usize = 2 << 10;

/// Tells a sink every line, but a warning once in each [`WINDOW`], and its count after that.
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
    level: Level,
    /// The line of the last time.
    line: String,
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

    fn tell(self: &Arc<Repeats>, level: Level, line: &str) {
        let is_new = level > Level::WARN || self.told.lock().is_new(level, line, Instant::now());
        if is_new {
            return self.sink.write(level, line);
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
        let Warning { level, line, repeats, .. } = warning;
        if *repeats > 0 {
            let times = if *repeats == 1 { "once more" } else { &format!("{repeats} more times") };
            self.sink.write(*level, &format!("{line} (said {times} since it was shown)"));
        }
    }
}

impl Told {
    /// Whether a warning is to be shown: it was not shown lately, or cannot be remembered.
    fn is_new(&mut self, level: Level, line: &str, now: Instant) -> bool {
        if line.len() > WARNING_BYTES_MAX {
            return true;
        }
        let meaning = meaning(line);
        if let Some(warning) = self.warnings.get_mut(&meaning)
            && (warning.repeats > 0 || now.duration_since(warning.since) < WINDOW)
        {
            warning.repeats += 1;
            line.clone_into(&mut warning.line);
            return false;
        }
        if self.warnings.len() >= WARNINGS_MAX {
            self.warnings.retain(|_, old| old.repeats > 0 || now.duration_since(old.since) < WINDOW);
        }
        if self.warnings.len() < WARNINGS_MAX {
            self.warnings.insert(meaning, Warning { since: now, level, line: String::new(), repeats: 0 });
        }
        true
    }

    /// The warnings whose time is over.
    fn take_ended(&mut self, now: Instant) -> Vec<Warning> {
        let ended = self.warnings.extract_if(|_, warning| now.duration_since(warning.since) >= WINDOW);
        ended.map(|(_, warning)| warning).collect()
    }
}

/// What `line` says, whenever it does: without the time that it begins with, and without numbers,
/// such as how long something took. A number in the name of an object is part of a longer word.
fn meaning(line: &str) -> String {
    let is_time = |word: &str| ['T', 'Z', ':'].into_iter().all(|letter| word.contains(letter));
    let said = match line.split_once(' ') {
        Some((first, rest)) if is_time(first) => rest,
        _ => line,
    };
    let is_number = |word: &str| word.trim_end_matches([',', ';', ':']).parse::<f64>().is_ok();
    let words = said.split(' ').map(|word| if is_number(word) { "#" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// Makes lines of events.
#[derive(Debug)]
pub(super) struct Lines(pub(super) Arc<Repeats>);

/// One event, told when it is complete.
#[derive(Debug)]
pub(super) struct Line<'a> {
    repeats: &'a Arc<Repeats>,
    level: Level,
    text: Vec<u8>,
}

impl Lines {
    fn line(&self, level: Level) -> Line<'_> {
        Line { repeats: &self.0, level, text: Vec::new() }
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        self.line(Level::INFO)
    }

    fn make_writer_for(&'a self, event: &Metadata<'_>) -> Line<'a> {
        self.line(*event.level())
    }
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        self.repeats.tell(self.level, String::from_utf8_lossy(&self.text).trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILED: &str =
        "2026-11-25T06:51:31.886728Z  WARN forerun::mount: http://host/7: gave up after 2 tries in 2.0 s";
    const FAILED_AGAIN: &str =
        "2026-11-25T06:51:33.888299Z  WARN forerun::mount: http://host/7: gave up after 12 tries in 31.5 s";

    #[test]
    fn a_warning_is_new_once_in_a_while() {
        let (mut told, start) = (Told::default(), Instant::now());
        assert!(told.is_new(Level::WARN, FAILED, start));
        assert!(!told.is_new(Level::WARN, FAILED_AGAIN, start + WINDOW / 2));
        assert!(told.is_new(Level::WARN, &FAILED.replace("host/7", "host/8"), start), "of another object");
        assert!(told.take_ended(start + WINDOW / 2).is_empty());
        let ended = told.take_ended(start + WINDOW);
        let counted: Vec<_> = ended.iter().filter(|warning| warning.repeats > 0).collect();
        assert_eq!((counted.len(), counted[0].repeats, &*counted[0].line), (1, 1, FAILED_AGAIN));
        assert!(told.is_new(Level::WARN, FAILED, start + WINDOW));
    }

    #[test]
    fn what_is_remembered_has_a_bound() {
        let (mut told, start) = (Told::default(), Instant::now());
        for number in 0..2 * WARNINGS_MAX {
            assert!(told.is_new(Level::WARN, &format!("object-{number} failed"), start));
        }
        assert_eq!(told.warnings.len(), WARNINGS_MAX);
        let long = "x".repeat(WARNING_BYTES_MAX + 1);
        assert!(told.is_new(Level::WARN, &long, start) && told.is_new(Level::WARN, &long, start));
        assert!(told.is_new(Level::WARN, "another failed", start + WINDOW));
        assert_eq!(told.warnings.len(), 1, "the old ones are over");
    }
}
