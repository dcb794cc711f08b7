//! An entry of the log, before it has a format.

use std::fmt::{self, Write};

use forerun_lab::export::json::Json;
use tracing::field::{Field, Visit};
use tracing::{Event, Level};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};

/// See the module's page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// The time in UTC, as RFC 3339 writes it.
    pub(super) time: String,
    pub(super) level: Level,
    pub(super) target: String,
    pub(super) message: String,
}

impl Record {
    /// The record of `event`, now.
    pub(super) fn new(event: &Event<'_>) -> Record {
        let (mut time, mut message) = (String::new(), MessageText(String::new()));
        // A string takes all text.
        let _ = SystemTime.format_time(&mut Writer::new(&mut time));
        event.record(&mut message);
        let metadata = event.metadata();
        Record { time, level: *metadata.level(), target: metadata.target().to_owned(), message: message.0 }
    }

    /// A line for people, with a colored level if `has_colors`.
    pub(super) fn text(&self, has_colors: bool) -> String {
        let Record { time, level, target, message } = self;
        let (begin, end) = if has_colors { (color(*level), "\u{1b}[0m") } else { ("", "") };
        format!("{time} {begin}{:>5}{end} {target}: {message}", level.as_str())
    }

    /// A line for programs: an object with the keys `time`, `level`, `target` and `message`.
    pub(super) fn json(&self) -> String {
        let mut json = Json::default();
        json.object(|json| {
            json.key("time").text(&self.time);
            json.key("level").text(&self.level.as_str().to_ascii_lowercase());
            json.key("target").text(&self.target);
            json.key("message").text(&self.message);
        });
        // Line breaks inside of texts are escaped, so these are between the keys.
        json.finish().lines().map(str::trim_start).collect()
    }

    /// A line for a log that has times and levels of its own.
    pub(super) fn plain(&self) -> String {
        format!("{}: {}", self.target, self.message).replace('\n', " ")
    }
}

fn color(level: Level) -> &'static str {
    match level {
        Level::ERROR => "\u{1b}[31m",
        Level::WARN => "\u{1b}[33m",
        Level::INFO => "\u{1b}[32m",
        _ => "\u{1b}[34m",
    }
}

/// The message of an event, and its other fields behind it.
struct MessageText(String);

impl Visit for MessageText {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let gap = if self.0.is_empty() { "" } else { " " };
        // A string takes all text.
        let _ = match field.name() {
            "message" if self.0.is_empty() => write!(self.0, "{value:?}"),
            "message" => {
                let message = format!("{value:?} {}", self.0);
                self.0 = message;
                Ok(())
            }
            name => write!(self.0, "{gap}{name}={value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_one_line_of_json_whatever_it_says() {
        let record = Record {
            time: "2026-11-25T06:51:31Z".to_owned(),
            level: Level::WARN,
            target: "forerun::mount".to_owned(),
            message: "\"a\"\n  b".to_owned(),
        };
        let json = "{\"time\": \"2026-11-25T06:51:31Z\",\"level\": \"warn\",\"target\": \"forerun::mount\",\
                    \"message\": \"\\\"a\\\"\\u000a  b\"}";
        assert_eq!(record.json(), json);
        assert_eq!(record.text(false), "2026-11-25T06:51:31Z  WARN forerun::mount: \"a\"\n  b");
        assert_eq!(record.plain(), "forerun::mount: \"a\"   b");
    }
}
