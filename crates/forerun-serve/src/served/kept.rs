//! Objects that stay open between requests, so that what their readers do is not forgotten.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use forerun::{ClientId, Entry, Reader};
use parking_lot::Mutex;

/// Objects that stay open at most. The one that was used longest ago gives way.
const KEPT_MAX: usize = 1024;
/// How long each of them stays open after a request.
pub(super) const KEPT_TIME: Duration = Duration::from_secs(60);

/// Open objects by path, with a reader for each client.
#[derive(Debug, Default)]
pub(super) struct KeptReaders {
    by_path: Mutex<HashMap<(String, ClientId), Kept>>,
}

#[derive(Debug)]
struct Kept {
    reader: Reader,
    last_used: Instant,
}

impl KeptReaders {
    /// The object at `path` that `client` has open, if it is a version that `is_wanted`.
    pub(super) fn get(
        &self,
        path: &str,
        client: ClientId,
        is_wanted: impl FnOnce(&Entry) -> bool,
    ) -> Option<Reader> {
        let mut by_path = self.by_path.lock();
        let kept =
            by_path.get_mut(&(path.to_owned(), client)).filter(|kept| is_wanted(kept.reader.entry()))?;
        kept.last_used = Instant::now();
        Some(kept.reader.clone())
    }

    /// The object that `entry` describes, as `client` has it open. Opens it by `open` if it has not.
    pub(super) fn get_or_keep(
        &self,
        entry: &Entry,
        client: ClientId,
        open: impl FnOnce() -> Reader,
    ) -> Reader {
        if let Some(reader) = self.get(&entry.path, client, |kept| kept.version == entry.version) {
            return reader;
        }
        let reader = open();
        let kept = Kept { reader: reader.clone(), last_used: Instant::now() };
        // Closing an object takes time of its own, so it waits for the end of the lock.
        let _replaced = self.by_path.lock().insert((entry.path.clone(), client), kept);
        let _oldest = self.remove_oldest();
        reader
    }

    /// Forgets the object at `path`.
    pub(super) fn forget(&self, path: &str) {
        let _forgotten: Vec<_> = self.by_path.lock().extract_if(|(of, _), _| of == path).collect();
    }

    /// Closes objects that nobody has used for [`KEPT_TIME`].
    pub(super) fn close_idle(&self, now: Instant) {
        let mut by_path = self.by_path.lock();
        let is_idle = |kept: &Kept| now.saturating_duration_since(kept.last_used) >= KEPT_TIME;
        let idle: Vec<_> = by_path.extract_if(|_, kept| is_idle(kept)).collect();
        drop(by_path);
        drop(idle);
    }

    fn remove_oldest(&self) -> Option<Kept> {
        let mut by_path = self.by_path.lock();
        if by_path.len() <= KEPT_MAX {
            return None;
        }
        let (oldest, _) = by_path.iter().min_by_key(|(_, kept)| kept.last_used)?;
        let oldest = oldest.clone();
        by_path.remove(&oldest)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use forerun::{Forerun, Options};
    use forerun_backend::MemoryBackend;

    use super::*;

    #[test]
    fn as_many_objects_stay_open_as_are_allowed_and_none_that_is_idle() {
        let memory = MemoryBackend::new();
        (0..KEPT_MAX + 10).for_each(|number| memory.replace(&number.to_string(), vec![1]));
        let forerun = Forerun::over(Arc::new(memory), Options::default()).unwrap();
        let kept = KeptReaders::default();
        for entry in forerun.list_blocking("").unwrap().iter() {
            kept.get_or_keep(entry, ClientId::default(), || forerun.reader_of(entry));
        }
        assert_eq!(kept.by_path.lock().len(), KEPT_MAX);
        let now = Instant::now();
        kept.close_idle(now);
        assert_eq!(kept.by_path.lock().len(), KEPT_MAX);
        kept.close_idle(now + KEPT_TIME);
        assert_eq!(kept.by_path.lock().len(), 0);
    }
}
