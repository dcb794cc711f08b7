//! Counters of the store.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Counts since the start or the last reset.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    requests: AtomicU64,
    bytes: Mutex<BTreeMap<String, u64>>,
}

impl Counters {
    pub(crate) fn add_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts `bytes` of content of the object named `key`.
    pub(crate) fn add(&self, key: &str, bytes: u64) {
        let mut each = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        match each.get_mut(key) {
            Some(sum) => *sum += bytes,
            None => _ = each.insert(key.to_owned(), bytes),
        }
    }

    pub(crate) fn reset(&self) {
        self.requests.store(0, Ordering::Relaxed);
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// All counters as JSON.
    pub(crate) fn to_json(&self) -> String {
        let each = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut json = format!(
            "{{\n  \"requests\": {},\n  \"bytes\": {},\n  \"objects\": {{",
            self.requests.load(Ordering::Relaxed),
            each.values().sum::<u64>()
        );
        for (index, (key, bytes)) in each.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let _ = write!(json, "{comma}\n    \"{key}\": {bytes}");
        }
        json.push_str("\n  }\n}\n");
        json
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_kept_per_object_until_reset() {
        let counters = Counters::default();
        counters.add_request();
        counters.add("b", 5);
        counters.add("a", 1);
        counters.add("b", 7);
        let expected = "{\n  \"requests\": 1,\n  \"bytes\": 13,\n  \"objects\": {\n    \"a\": 1,\n    \"b\": 12\n  }\n}\n";
        assert_eq!(counters.to_json(), expected);
        counters.reset();
        assert!(counters.to_json().contains("\"bytes\": 0,"));
    }
}
