//! Where a record of the log goes.

use std::fs::File;
use std::io::Write;

use super::record::Record;
use super::system::System;
use crate::print::tell;

/// A place that keeps or shows records.
#[derive(Debug)]
pub(super) struct Sink {
    pub(super) place: Destination,
    pub(super) is_json: bool,
    pub(super) has_colors: bool,
}

#[derive(Debug)]
pub(super) enum Destination {
    Stderr,
    File(File),
    System(System),
}

impl Sink {
    /// Writes `record`. A log that cannot be written is no reason to fail.
    pub(super) fn write(&self, record: &Record) {
        let line = || if self.is_json { record.json() } else { record.text(self.has_colors) };
        match &self.place {
            Destination::Stderr => tell(&line()),
            Destination::File(file) => drop((&mut &*file).write_all(format!("{}\n", line()).as_bytes())),
            Destination::System(system) => system.send(record),
        }
    }
}
