//! Transforming traces: a part of one, a merger of several, mended dependencies.

use crate::recent::Recent;
use crate::{Access, Error, Files, Moment, Reader, Result};

/// Keeps the accesses of some files within a span of time, which then begins at 0.
#[derive(Debug, Default)]
pub struct Cut {
    /// The first nanosecond kept.
    pub from_ns: u64,
    /// The first nanosecond after it that is not kept.
    pub to_ns: Option<u64>,
    /// The names of the files kept; empty for all files.
    pub files: Vec<String>,
    kept: Recent<()>,
}

impl Cut {
    /// Accesses of `files`, or of all files if there are none, from `from_ns` and before `to_ns`.
    pub fn new(from_ns: u64, to_ns: Option<u64>, files: Vec<String>) -> Cut {
        Cut { from_ns, to_ns, files, kept: Recent::default() }
    }

    /// `access` as part of the cut, or none if it is outside. Dependencies on accesses outside the
    /// cut are dropped.
    pub fn keep(&mut self, mut access: Access, files: &Files) -> Option<Access> {
        let in_time = access.time_ns >= self.from_ns && self.to_ns.is_none_or(|to_ns| access.time_ns < to_ns);
        let of_file = self.files.is_empty() || self.files.iter().any(|name| name == files.name(access.file));
        if !in_time || !of_file {
            return None;
        }
        access.time_ns -= self.from_ns;
        access.after.retain(|dependency| self.kept.get(dependency.id).is_some());
        self.kept.insert(access.id, ());
        Some(access)
    }
}

/// Moves dependencies of rbd-replay traces to completions. They name the submission of reads and
/// writes whose completion the recorded program had seen.
#[derive(Debug, Default)]
pub struct Repair {
    /// The service time of a read or write, as far as known: part of each recorded delay.
    pub service_ns: u64,
    transfers: Recent<()>,
}

impl Repair {
    /// `service_ns` is subtracted from each delay; the trace does not have it.
    pub fn new(service_ns: u64) -> Repair {
        Repair { service_ns, transfers: Recent::default() }
    }

    /// Mends the dependencies of `access` and returns their number.
    pub fn mend(&mut self, access: &mut Access) -> u64 {
        let mut mended = 0;
        for dependency in &mut access.after {
            if dependency.moment == Moment::Submitted && self.transfers.get(dependency.id).is_some() {
                dependency.moment = Moment::Completed;
                dependency.delta_ns = dependency.delta_ns.saturating_sub(self.service_ns);
                mended += 1;
            }
        }
        if access.op.has_extent() && !access.blocking {
            self.transfers.insert(access.id, ());
        }
        mended
    }
}

/// Merges several traces by time. Files of one name become one file. Ids and threads of different
/// traces stay apart.
pub struct Merge {
    sources: Vec<MergedReader>,
    files: Files,
    same_clock: bool,
}

struct MergedReader {
    reader: Reader,
    next: Option<Access>,
    shift_ns: u64,
}

impl Merge {
    /// Merges `readers`, which all begin at time 0. With `same_clock` each is shifted to its
    /// recorder's clock, and all threads are those of one machine.
    ///
    /// # Errors
    /// If the first access of one cannot be read, or if it lacks a clock.
    pub fn new(readers: Vec<Reader>, same_clock: bool) -> Result<Merge> {
        let mut sources = Vec::new();
        for mut reader in readers {
            let next = reader.next().transpose()?;
            sources.push(MergedReader { reader, next, shift_ns: 0 });
        }
        if same_clock {
            align(&mut sources)?;
        }
        Ok(Merge { sources, files: Files::default(), same_clock })
    }

    /// The names so far.
    pub fn files(&self) -> &Files {
        &self.files
    }

    fn take(&mut self, at: usize) -> Result<Access> {
        let count = self.sources.len() as u64;
        let source = &mut self.sources[at];
        let mut access = source.next.take().expect("only a source with a next access is chosen");
        access.file = self.files.intern(source.reader.files().name(access.file));
        access.time_ns = access.time_ns.saturating_add(source.shift_ns);
        let apart = |id: u64| id.wrapping_mul(count).wrapping_add(at as u64);
        access.id = apart(access.id);
        access.after.iter_mut().for_each(|dependency| dependency.id = apart(dependency.id));
        if !self.same_clock {
            access.thread = apart(access.thread);
        }
        source.next = source.reader.next().transpose()?;
        Ok(access)
    }
}

impl Iterator for Merge {
    type Item = Result<Access>;

    fn next(&mut self) -> Option<Result<Access>> {
        let times = self.sources.iter().enumerate().filter_map(|(at, source)| {
            Some((source.next.as_ref()?.time_ns.saturating_add(source.shift_ns), at))
        });
        let (_, at) = times.min()?;
        Some(self.take(at))
    }
}

fn align(sources: &mut [MergedReader]) -> Result<()> {
    let mut origins = Vec::new();
    for source in sources.iter() {
        origins.push(source.reader.origin_ns().ok_or_else(|| {
            Error::UnknownFormat {
                name: format!("a trace in format {}", source.reader.format()),
                reason: "its times have no clock in common with other traces; merge it without --same-clock"
                    .to_owned(),
            }
        })?);
    }
    let first = origins.iter().copied().min().unwrap_or(0);
    for (source, origin) in sources.iter_mut().zip(origins) {
        source.shift_ns = origin - first;
    }
    Ok(())
}
