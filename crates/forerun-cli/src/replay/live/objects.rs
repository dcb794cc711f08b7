//! Reading the objects of a live replay.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use forerun::{Entry, ErrorKind, Forerun, Lease, Reader};
use forerun_lab::live::{Done, Storage};
use forerun_lab::workload::Workload;
use forerun_sim::source::{Extent, ObjectId};

use super::names::{Names, Wanted};

/// Gets the bytes of every read: the object, their offset, and the bytes.
type Check = Arc<dyn Fn(&str, u64, &Lease<'_>) + Send + Sync>;

/// The objects of a recording's files.
pub(super) struct Objects<'a> {
    forerun: &'a Forerun,
    entries: Vec<Option<Entry>>,
    /// Each client that has a file open is a reader of its own.
    readers: Mutex<HashMap<(u32, ObjectId), Reader>>,
    check: Option<Check>,
}

impl<'a> Objects<'a> {
    /// Looks up all objects of `workload`, which are called `names`.
    ///
    /// # Errors
    /// An object that is missing, or too small.
    pub(super) fn open(
        forerun: &'a Forerun,
        workload: &Workload,
        names: &Names,
    ) -> Result<Objects<'a>, String> {
        let find = |wanted: &Option<Wanted>| {
            wanted.as_ref().map(|wanted| find(forerun, workload, &wanted.name, wanted.bytes)).transpose()
        };
        let entries = names.iter().map(find).collect::<Result<_, _>>()?;
        Ok(Objects { forerun, entries, readers: Mutex::default(), check: None })
    }

    /// Passes all bytes that are read to `check`.
    #[cfg(test)]
    pub(super) fn checked(self, check: Check) -> Objects<'a> {
        Objects { check: Some(check), ..self }
    }

    fn reader(&self, client: u32, object: ObjectId) -> Option<Reader> {
        let entry = self.entries.get(object.0 as usize)?.as_ref()?;
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        Some(readers.entry((client, object)).or_insert_with(|| self.forerun.reader_of(entry)).clone())
    }
}

impl Storage for Objects<'_> {
    fn read(&self, client: u32, object: ObjectId, extent: Extent, done: Done) {
        let Some(reader) = self.reader(client, object) else {
            return done
                .finish(Err("the recording changed while it was replayed; replay it again".to_owned()));
        };
        let path = reader.entry().path.clone();
        let check = self.check.clone();
        let len = usize::try_from(extent.len).unwrap_or(usize::MAX);
        reader.submit(extent.offset, len, move |lease| {
            done.finish(match lease {
                Ok(lease) if lease.len() as u64 == extent.len => {
                    check.iter().for_each(|check| check(&path, extent.offset, &lease));
                    Ok(())
                }
                Ok(lease) => Err(format!(
                    "{path} gives {} of {} bytes at {}: it became smaller; replay on storage that does not change",
                    lease.len(),
                    extent.len,
                    extent.offset
                )),
                Err(error) => Err(format!("reading {path} at {}: {error}", extent.offset)),
            });
        });
    }

    fn close(&self, client: u32, object: ObjectId) {
        let reader = self.readers.lock().unwrap_or_else(PoisonError::into_inner).remove(&(client, object));
        drop(reader);
    }
}

/// The object called `name`, which must have `size` bytes.
fn find(forerun: &Forerun, workload: &Workload, name: &str, size: u64) -> Result<Entry, String> {
    let (recording, url) = (workload.path().display(), forerun.url());
    let entry = forerun.stat_blocking(name).map_err(|error| match error.kind {
        ErrorKind::NotFound => format!(
            "{recording} reads {name}, which {url} does not have; name an object with --live-object, or give a \
             local directory and --live-create"
        ),
        _ => format!("looking for {name} of {recording}: {error}"),
    })?;
    if entry.size < size {
        return Err(format!(
            "{recording} reads {size} bytes of {name}, which has {} in {url}; use a larger one, or a local \
             directory and --live-create",
            entry.size
        ));
    }
    Ok(entry)
}
