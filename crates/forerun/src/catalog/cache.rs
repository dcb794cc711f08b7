//! Answers that are believed for a while. Pure: time is an argument.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use forerun_backend::Result;
use tokio::time::Instant;

/// Entries that one cache holds at most; an answer counts for as many as it
/// carries. At some 200 bytes each, 13 MiB.
pub(super) const ENTRIES_MAX: usize = 65536;

/// Answers by path. Those that are no longer believed go, and the oldest before others.
#[derive(Debug)]
pub(super) struct Cache<V> {
    /// Apart, since a table has room for twice as many.
    answers: HashMap<Arc<str>, Box<Known<V>>>,
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

    /// Keeps an answer that came at the start of `believed` and carries `entry_count` entries,
    /// unless that is more than the cache holds.
    pub(super) fn put(
        &mut self,
        path: &str,
        answer: Result<V>,
        entry_count: usize,
        believed: &Range<Instant>,
    ) {
        self.remove(path);
        if entry_count > ENTRIES_MAX {
            return;
        }
        while let Some(oldest) = self.order.first_entry()
            && (self.entry_count + entry_count > ENTRIES_MAX
                || self.answers[oldest.get()].until <= believed.start)
        {
            let oldest = oldest.remove();
            self.remove(&oldest);
        }
        let (path, number) = (Arc::<str>::from(path), self.answer_count);
        self.answer_count += 1;
        self.entry_count += entry_count;
        self.order.insert(number, Arc::clone(&path));
        self.answers.insert(path, Box::new(Known { answer, until: believed.end, number, entry_count }));
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
        let (until, later) = (now + Duration::from_secs(1), now + Duration::from_secs(2));
        cache.put("a", Ok(1), 1, &(now..until));
        assert_eq!(cache.get("a", now).unwrap().unwrap(), 1);
        assert!(cache.get("a", until).is_none());
        cache.put("a", Ok(2), 1, &(now..later));
        assert_eq!(cache.get("a", until).unwrap().unwrap(), 2);
        cache.remove("a");
        assert!(cache.get("a", now).is_none());
    }

    #[test]
    fn an_answer_that_is_not_believed_takes_no_room() {
        let (mut cache, now) = (Cache::new(), Instant::now());
        let at = |millis| now + Duration::from_millis(millis);
        for millis in 0..10_000 {
            cache.put(&millis.to_string(), Ok(()), 1, &(at(millis)..at(millis + 100)));
        }
        assert_eq!((cache.answers.len(), cache.order.len(), cache.entry_count), (100, 100, 100));
    }

    #[test]
    fn the_oldest_answer_goes_first_and_none_is_too_large() {
        let (mut cache, now) = (Cache::new(), Instant::now());
        let believed = now..now + Duration::from_secs(1);
        let mut put = |path, entry_count| cache.put(path, Ok(()), entry_count, &believed);
        put("old", 1);
        put("new", 1);
        put("old", 1);
        put("large", ENTRIES_MAX - 1);
        put("huge", ENTRIES_MAX + 1);
        assert!(cache.get("new", now).is_none() && cache.get("huge", now).is_none());
        assert!(cache.get("old", now).is_some() && cache.get("large", now).is_some());
        assert_eq!((cache.entry_count, cache.order.len()), (ENTRIES_MAX, 2));
    }
}
