//! Traces from traces: a part of one, several as one, one with mended dependencies.

use crate::recent::Recent;
use crate::{Access, Error, Files, Moment, Reader, Result};

/// Keeps the accesses of some files within some time, which then begins at 0.
#[derive(Debug, Default)]
pub struct Cut {
    /// The first nanosecond kept.
    pub from_ns: u64,
    /// The first nanosecond after it that is not kept.
    pub to_ns: Option<u64>,
    /// The names of the files kept; all if there are none.
    pub files: Vec<String>,
    kept: Recent<()>,
}

impl Cut {
    /// Accesses of `files`, or of all files if there are none, from `from_ns` and before `to_ns`.
    pub fn new(from_ns: u64, to_ns: Option<u64>, files: Vec<String>) -> Cut {
        Cut { from_ns, to_ns, files, kept: Recent::default() }
    }

    /// `access` as it is in the part, or `None` if it is not in it. Dependencies on what is
    /// not in it are gone.
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

/// Dependencies of rbd-replay traces point at the submission of reads and writes whose
/// completion the recorded program had seen; makes them point there.
#[derive(Debug, Default)]
pub struct Repair {
    /// How long a read or write took, as far as known: part of each recorded delay.
    pub service_ns: u64,
    transfers: Recent<()>,
}

impl Repair {
    /// `service_ns` is taken off each delay; it is not in the trace.
    pub fn new(service_ns: u64) -> Repair {
        Repair { service_ns, transfers: Recent::default() }
    }

    /// Mends the dependencies of `access` and tells how many.
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

/// Several traces as one, in the order of time. Files of one name become one file; each
/// trace keeps its ids and its threads apart from those of the others.
pub struct Merge {
    sources: Vec<Source>,
    files: Files,
    same_clock: bool,
}

struct Source {
    reader: Reader,
    next: Option<Access>,
    shift_ns: u64,
}

impl Merge {
    /// All `readers` begin at time 0; with `same_clock` they are shifted to what the
    /// recorder's clock said, and their threads are those of one machine.
    ///
    /// # Errors
    /// The first access of one cannot be read, or it has no clock to go by.
    pub fn new(readers: Vec<Reader>, same_clock: bool) -> Result<Merge> {
        let mut sources = Vec::new();
        for mut reader in readers {
            let next = reader.next().transpose()?;
            sources.push(Source { reader, next, shift_ns: 0 });
        }
        if same_clock {
            align(&mut sources)?;
        }
        Ok(Merge { sources, files: Files::default(), same_clock })
    }

    /// The names met until now.
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

fn align(sources: &mut [Source]) -> Result<()> {
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
