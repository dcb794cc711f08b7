//! When to list a directory again because of those who ask for one of its files after
//! the other: a list is a few requests, a stat of each file is one each. Pure: time is
//! an argument.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Entries in an answer of most stores: what a list costs in requests.
const PAGE_ENTRIES: usize = 1000;
/// A list is worth its requests to whoever has made so many times as many stats.
const STATS_MIN: usize = 4;
/// Directories watched; then all are dropped, and lists only come later.
const DIRECTORIES_MAX: usize = 1024;

#[derive(Debug)]
struct Directory {
    /// The list is believed until then, and asked for again from then on.
    due: Instant,
    entry_count: usize,
    stat_count: usize,
}

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Freshness {
    directories: HashMap<Arc<str>, Directory>,
}

impl Freshness {
    /// `path` was listed, which is believed for `ttl`.
    pub(super) fn listed(&mut self, path: &str, entry_count: usize, now: Instant, ttl: Duration) {
        if self.directories.len() >= DIRECTORIES_MAX && !self.directories.contains_key(path) {
            self.directories.clear();
        }
        // While the answer to the next is on its way, this one is still believed.
        let Some(due) = now.checked_add(ttl / 4 * 3) else { return };
        self.directories.insert(path.into(), Directory { due, entry_count, stat_count: 0 });
    }

    /// Somebody asks what is at `path`. The directory that should be listed again
    /// because of that.
    pub(super) fn asked<'p>(&mut self, path: &'p str, now: Instant) -> Option<&'p str> {
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        let directory = self.directories.get_mut(parent)?;
        directory.stat_count += 1;
        let is_worth_it = directory.stat_count >= STATS_MIN * (directory.entry_count / PAGE_ENTRIES + 1);
        if !is_worth_it || now < directory.due {
            return None;
        }
        self.directories.remove(parent);
        Some(parent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_lists_again_and_a_few_stats_do_not() {
        let (mut freshness, now, ttl) = (Freshness::default(), Instant::now(), Duration::from_secs(4));
        let after = |seconds| now + Duration::from_secs(seconds);
        freshness.listed("d", 2000, now, ttl);
        assert!((0..100).all(|_| freshness.asked("d/a", after(2)).is_none()), "it is believed");
        assert_eq!(freshness.asked("e/a", after(3)), None);
        assert_eq!(freshness.asked("d/a", after(3)), Some("d"));
        assert_eq!(freshness.asked("d/a", after(3)), None, "it is asked for already");
        freshness.listed("d", 2000, after(3), ttl);
        assert_eq!((0..100).find(|_| freshness.asked("d/a", after(9)).is_some()), Some(11));
    }
}
