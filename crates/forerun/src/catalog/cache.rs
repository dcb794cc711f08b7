//! Answers that are believed for a while. Pure: time is an argument.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use forerun_backend::Result;
use tokio::time::Instant;

/// Entries that one cache holds at most; an answer counts for as many as it
/// carries. At some 200 bytes each, 13 MiB.
pub(super) const ENTRIES_MAX: usize = 65536;

/// Answers by path; the oldest go first.
#[derive(Debug)]
pub(super) struct Cache<V> {
    answers: HashMap<Arc<str>, Known<V>>,
    /// Paths in the order their answers came.
    order: BTreeMap<u64, Arc<str>>,
    entry_count: usize,
    answer_count: u64,
}

#[derive(Debug)]
struct Known<V> {
    answer: Result<V>,
    until: Instant,
    number: u64,
    entry_count: usize,
}

impl<V: Clone> Cache<V> {
    pub(super) fn new() -> Cache<V> {
        Cache { answers: HashMap::new(), order: BTreeMap::new(), entry_count: 0, answer_count: 0 }
    }

    pub(super) fn get(&self, path: &str, now: Instant) -> Option<Result<V>> {
        self.answers.get(path).filter(|known| now < known.until).map(|known| known.answer.clone())
    }

    /// Keeps an answer that carries `entry_count` entries, unless that is more
    /// than the cache holds.
    pub(super) fn put(&mut self, path: &str, answer: Result<V>, entry_count: usize, until: Instant) {
        self.remove(path);
        if entry_count > ENTRIES_MAX {
            return;
        }
        while self.entry_count + entry_count > ENTRIES_MAX {
            let Some((_, oldest)) = self.order.pop_first() else { break };
            self.remove(&oldest);
        }
        let (path, number) = (Arc::<str>::from(path), self.answer_count);
        self.answer_count += 1;
        self.entry_count += entry_count;
        self.order.insert(number, Arc::clone(&path));
        self.answers.insert(path, Known { answer, until, number, entry_count });
    }

    pub(super) fn remove(&mut self, path: &str) {
        if let Some(known) = self.answers.remove(path) {
            self.order.remove(&known.number);
            self.entry_count -= known.entry_count;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_answer_is_believed_until_its_time() {
        let (mut cache, now) = (Cache::new(), Instant::now());
        let until = now + Duration::from_secs(1);
        cache.put("a", Ok(1), 1, until);
        assert_eq!(cache.get("a", now).unwrap().unwrap(), 1);
        assert!(cache.get("a", until).is_none());
        cache.put("a", Ok(2), 1, until + Duration::from_secs(1));
        assert_eq!(cache.get("a", until).unwrap().unwrap(), 2);
        cache.remove("a");
        assert!(cache.get("a", now).is_none());
    }

    #[test]
    fn the_oldest_answer_goes_first_and_none_is_too_large() {
        let (mut cache, now) = (Cache::new(), Instant::now());
        let until = now + Duration::from_secs(1);
        cache.put("old", Ok(()), 1, until);
        cache.put("new", Ok(()), 1, until);
        cache.put("old", Ok(()), 1, until);
        cache.put("large", Ok(()), ENTRIES_MAX - 1, until);
        assert!(cache.get("new", now).is_none());
        assert!(cache.get("old", now).is_some() && cache.get("large", now).is_some());
        cache.put("huge", Ok(()), ENTRIES_MAX + 1, until);
        assert!(cache.get("huge", now).is_none());
        assert_eq!((cache.entry_count, cache.order.len()), (ENTRIES_MAX, 2));
    }
}
