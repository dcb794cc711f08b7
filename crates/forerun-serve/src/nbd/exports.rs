//! The exports by name.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use forerun::{ErrorKind, Kind, Result};
use parking_lot::Mutex;
use tokio::sync::Mutex as AsyncMutex;

use super::open::OpenExport;
use super::url_exports::Source;

/// Names that a client gets at most.
pub(super) const LISTED_MAX: usize = 10_000;

/// All that is served. Connections to one version of an object share it.
#[derive(Debug)]
pub struct Exports {
    sources: Vec<Source>,
    open: Mutex<HashMap<String, Arc<OpenSlot>>>,
}

/// The open export of a name. It is locked while a client looks for it, so that several who come at once open it once.
type OpenSlot = AsyncMutex<Weak<OpenExport>>;

impl Exports {
    /// The exports of `sources`. If two have an export of one name, the first is meant.
    pub fn new(sources: Vec<Source>) -> Exports {
        Exports { sources, open: Mutex::default() }
    }

    /// The names that a list has.
    ///
    /// # Errors
    /// If a directory cannot be listed.
    pub async fn names(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for source in &self.sources {
            names.extend(source.names().await?);
        }
        names.truncate(LISTED_MAX);
        Ok(names)
    }

    /// Makes all writes last that have ended.
    ///
    /// # Errors
    /// If the disk does not take them.
    pub async fn flush(&self) -> Result<()> {
        for source in &self.sources {
            source.changes.flush().await?;
        }
        Ok(())
    }

    /// The first name of the list.
    async fn first(&self) -> Result<Option<String>> {
        for source in &self.sources {
            if let Some(name) = source.names().await?.into_iter().next() {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// The export called `name`, or the first of the list if that is empty; none if there is none.
    ///
    /// # Errors
    /// If the storage cannot tell.
    pub(super) async fn find(&self, name: &str) -> Result<Option<Arc<OpenExport>>> {
        let first;
        let name = if name.is_empty() {
            let Some(found) = self.first().await? else { return Ok(None) };
            first = found;
            &first
        } else {
            name
        };
        // Only clients of this export wait for one that opens it.
        let slot = self.slot(name);
        let mut slot = slot.lock().await;
        for source in &self.sources {
            let Some(path) = source.path_of(name) else { continue };
            match source.forerun.stat(path).await {
                Ok(entry) if entry.kind == Kind::File => {
                    return source.open(name, &entry, &mut slot).await.map(Some);
                }
                Ok(_) => {}
                Err(error) if matches!(error.kind, ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// The slot of `name`. Those that nobody uses are given up.
    fn slot(&self, name: &str) -> Arc<OpenSlot> {
        let mut open = self.open.lock();
        open.retain(|_, slot| {
            Arc::strong_count(slot) > 1 || slot.try_lock().is_ok_and(|slot| slot.strong_count() > 0)
        });
        Arc::clone(open.entry(name.to_owned()).or_default())
    }
}
