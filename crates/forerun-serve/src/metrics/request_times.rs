//! The requests of a front end: how many there were, how long they took, and how many failed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use forerun::Durations;

/// Counts requests by operation. A front end has a list of its operations, such as
/// [`fuse::OPERATIONS`](crate::fuse::OPERATIONS).
#[derive(Debug)]
pub struct RequestTimes {
    operations: &'static [&'static str],
    counted: Box<[OperationTimes]>,
}

#[derive(Debug, Default)]
struct OperationTimes {
    durations: Durations,
    failed_count: AtomicU64,
}

/// A request that is being answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun {
    operation: usize,
    at: Instant,
}

impl RequestTimes {
    /// No requests yet of any of `operations`.
    pub fn new(operations: &'static [&'static str]) -> RequestTimes {
        RequestTimes { operations, counted: operations.iter().map(|_| OperationTimes::default()).collect() }
    }

    /// A request has come whose operation is at this place of the list.
    pub(crate) fn begin(&self, operation: usize) -> Begun {
        Begun { operation, at: Instant::now() }
    }

    /// The answer to the request is ready; an error unless it `is_ok`.
    pub(crate) fn end(&self, Begun { operation, at }: Begun, is_ok: bool) {
        let Some(counted) = self.counted.get(operation) else { return };
        counted.durations.add(at.elapsed());
        if !is_ok {
            counted.failed_count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Each operation, with the times of its requests and the number of those that failed.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &Durations, u64)> {
        let failed = |counted: &OperationTimes| counted.failed_count.load(Ordering::Relaxed);
        let counted = self.counted.iter().map(move |counted| (&counted.durations, failed(counted)));
        self.operations.iter().zip(counted).map(|(name, (durations, failed))| (*name, durations, failed))
    }
}
