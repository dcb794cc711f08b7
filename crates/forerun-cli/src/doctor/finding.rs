//! The result of one check.

use std::fmt;

use forerun_lab::export::json::Json;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Ok,
    Warning,
    Fault,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Level::Ok => "ok",
            Level::Warning => "warning",
            Level::Fault => "fault",
        }
    }
}

/// A sentence about one property of this machine, or of a URL.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) level: Level,
    /// The URL; none for this machine.
    pub(super) url: Option<String>,
    /// The name of the check, which scripts may rely on.
    pub(super) check: &'static str,
    pub(super) message: String,
}

impl Finding {
    /// One about this machine.
    pub(super) fn new(level: Level, check: &'static str, message: impl Into<String>) -> Finding {
        Finding { level, url: None, check, message: message.into() }
    }

    pub(super) fn write(json: &mut Json, finding: &Finding) {
        json.object(|json| {
            json.key("level").text(finding.level.name());
            if let Some(url) = &finding.url {
                json.key("url").text(url);
            }
            json.key("check").text(finding.check);
            json.key("message").text(&finding.message);
        });
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<8} ", self.level.name())?;
        if let Some(url) = &self.url {
            write!(f, "{url}: ")?;
        }
        write!(f, "{}: {}", self.check, self.message)
    }
}
