//! The kernel's file handle numbers.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

/// Open files, or open directories, by handle.
#[derive(Debug)]
pub(crate) struct Handles<T> {
    next: AtomicU64,
    open: RwLock<HashMap<u64, Arc<T>>>,
}

impl<T> Handles<T> {
    pub(crate) fn new() -> Handles<T> {
        Handles { next: AtomicU64::new(1), open: RwLock::new(HashMap::new()) }
    }

    /// A new handle on `value`.
    pub(crate) fn insert(&self, value: T) -> u64 {
        let handle = self.next.fetch_add(1, Ordering::Relaxed);
        self.open.write().insert(handle, Arc::new(value));
        handle
    }

    /// The open value of `handle`.
    pub(crate) fn get(&self, handle: u64) -> Option<Arc<T>> {
        self.open.read().get(&handle).cloned()
    }

    /// All open values.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        self.open.read().values().cloned().collect()
    }

    /// Closes `handle` and returns its value.
    pub(crate) fn remove(&self, handle: u64) -> Option<Arc<T>> {
        // Dropped after the lock: closing an object takes time of its own.
        self.open.write().remove(&handle)
    }
}
