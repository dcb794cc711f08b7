//! Where a line of the log goes.

use std::fs::File;
use std::io::Write;

use crate::print::tell;

/// A place that keeps or shows lines.
#[derive(Debug)]
pub(super) enum Sink {
    Stderr,
    File(File),
}

impl Sink {
    /// Writes `line`. A log that cannot be written is no reason to fail.
    pub(super) fn write(&self, line: &str) {
        match self {
            Sink::Stderr => tell(line),
            Sink::File(file) => drop((&mut &*file).write_all(format!("{line}\n").as_bytes())),
        }
    }
}
