//! A recent extreme: an estimate that forgets old samples.

use crate::types::Time;

/// How long a largest or smallest sample counts, at least and at most twice it.
const FILTER_NS: u64 = 5_000_000_000;

/// The largest (or smallest) sample of the last five to ten seconds.
#[derive(Debug)]
pub(crate) struct Filter {
    largest: bool,
    since: Time,
    now: Option<u64>,
    before: Option<u64>,
}

impl Filter {
    pub(crate) fn largest() -> Filter {
        Filter { largest: true, since: Time(0), now: None, before: None }
    }

    pub(crate) fn smallest() -> Filter {
        Filter { largest: false, ..Filter::largest() }
    }

    pub(crate) fn get(&self) -> Option<u64> {
        self.pick(self.now, self.before)
    }

    pub(crate) fn add(&mut self, now: Time, sample: u64) {
        if now.since(self.since) > FILTER_NS && self.now.is_some() {
            self.since = now;
            self.before = self.now.take();
        }
        self.now = self.pick(self.now, Some(sample));
    }

    fn pick(&self, a: Option<u64>, b: Option<u64>) -> Option<u64> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if self.largest { a.max(b) } else { a.min(b) }),
            (a, b) => a.or(b),
        }
    }
}
