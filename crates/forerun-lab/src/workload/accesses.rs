//! The accesses of a workload, one after the other.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use forerun_sim::source::Scan;
use forerun_trace::{Access, ReadOptions, Reader};

use crate::error::Error;

/// The accesses of a trace, as they were the first time. They end where they are not any
/// more, and whoever uses them asks their [`Failure`] then.
#[derive(Debug)]
pub struct Accesses(Origin);

#[derive(Debug)]
enum Origin {
    File(Box<Again>),
    Held { accesses: Arc<[Access]>, next: usize },
}

impl Accesses {
    pub(super) fn held(accesses: Arc<[Access]>) -> Accesses {
        Accesses(Origin::Held { accesses, next: 0 })
    }

    /// Those of the file at `path`, of which `scan` was made.
    pub(super) fn of_file(path: &Path, options: ReadOptions, scan: &Scan, failure: &Failure) -> Accesses {
        Accesses(Origin::File(Box::new(Again {
            path: path.to_owned(),
            options,
            reader: None,
            sizes: scan.objects().iter().map(|placed| placed.size).collect(),
            left: scan.access_count,
            failure: failure.clone(),
        })))
    }
}

impl Iterator for Accesses {
    type Item = Access;

    fn next(&mut self) -> Option<Access> {
        match &mut self.0 {
            Origin::File(again) => again.next(),
            Origin::Held { accesses, next } => {
                let access = accesses.get(*next).cloned();
                *next += 1;
                access
            }
        }
    }
}

/// A file that is read again.
#[derive(Debug)]
struct Again {
    path: PathBuf,
    options: ReadOptions,
    reader: Option<Reader>,
    /// Of its files, the first time.
    sizes: Vec<u64>,
    /// Those that the first time had and this one has not had yet.
    left: u64,
    failure: Failure,
}

impl Again {
    fn next(&mut self) -> Option<Access> {
        // A file that grew is replayed as far as it was looked at.
        self.left = self.left.checked_sub(1)?;
        let access = self.read();
        access.map_err(|error| self.failure.set(error)).ok()
    }

    fn read(&mut self) -> Result<Access, Error> {
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => none.insert(Reader::open(&self.path, self.options)?),
        };
        let access = reader.next().transpose()?;
        let known = |access: &Access| {
            let size = self.sizes.get(access.file.0 as usize);
            size.is_some_and(|size| !access.op.has_extent() || access.extent.end() <= *size)
        };
        access.filter(known).ok_or_else(|| Error::Unfit {
            name: self.path.display().to_string(),
            reason: "changed while it was replayed; replay it again when nothing writes it".to_owned(),
        })
    }
}

/// Why a trace could not be read to its end, told from within an iterator. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Failure(Arc<Mutex<Option<Error>>>);

impl Failure {
    /// `result`, or what went wrong with the trace before.
    ///
    /// # Errors
    /// Both of them.
    pub fn or<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        self.lock().take().map_or(result, Err)
    }

    fn set(&self, error: Error) {
        self.lock().get_or_insert(error);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Error>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
