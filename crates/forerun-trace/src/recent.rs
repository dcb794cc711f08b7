//! The last records of a trace, for formats that refer to earlier ones.

use std::collections::BTreeMap;

/// The number remembered. A dependency reaches back one second in practice (the default window of
/// `rbd-replay-prep`), which is fewer accesses than this.
const REMEMBERED: usize = 1 << 16;

/// Values by id, the highest [`REMEMBERED`] of them.
#[derive(Debug)]
pub(crate) struct Recent<V>(BTreeMap<u64, V>);

impl<V> Default for Recent<V> {
    fn default() -> Recent<V> {
        Recent(BTreeMap::new())
    }
}

impl<V> Recent<V> {
    pub(crate) fn insert(&mut self, id: u64, value: V) {
        self.0.insert(id, value);
        if self.0.len() > REMEMBERED {
            self.0.pop_first();
        }
    }

    pub(crate) fn get(&self, id: u64) -> Option<&V> {
        self.0.get(&id)
    }
}
