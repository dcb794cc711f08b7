//! Bytes of a read, lent or copied.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use forerun::Lease;

/// The share of the memory that may be lent. Reads wait while too much is lent, and a program may keep
/// what it was lent for ever.
const LENT_SHARE: u64 = 4;
/// Less is copied: a lent byte holds a whole block of memory, and a copy of so little costs nothing.
const LENT_BYTES_MIN: usize = 16 << 10;
/// Blocks at both ends that a lease holds only in part.
const ENDS_BYTES: u64 = 2 * 4096;

/// How much is lent.
#[derive(Debug)]
pub(crate) struct Lending {
    lent_bytes: AtomicU64,
    lent_bytes_max: u64,
}

impl Lending {
    /// Of a memory of `memory_bytes`.
    pub(crate) fn new(memory_bytes: u64) -> Lending {
        Lending { lent_bytes: AtomicU64::new(0), lent_bytes_max: memory_bytes / LENT_SHARE }
    }

    /// The bytes of `lease`, in order: as they lie in memory if that may be lent, or a copy.
    pub(crate) fn take(self: &Arc<Lending>, lease: Lease<'_>) -> Vec<Bytes> {
        if lease.is_empty() {
            return Vec::new();
        }
        let loan =
            if lease.len() < LENT_BYTES_MIN { None } else { self.borrow(lease.len() as u64 + ENDS_BYTES) };
        let Some(loan) = loan.map(Arc::new) else {
            return vec![Bytes::from(lease.to_contiguous().into_owned())];
        };
        let lend = |bytes| Bytes::from_owner(Lent { bytes, _loan: Arc::clone(&loan) });
        lease.into_bytes().into_iter().map(lend).collect()
    }

    fn borrow(self: &Arc<Lending>, bytes: u64) -> Option<Loan> {
        let lent = |lent: u64| lent.checked_add(bytes).filter(|lent| *lent <= self.lent_bytes_max);
        self.lent_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, lent).ok()?;
        Some(Loan { lending: Arc::clone(self), bytes })
    }
}

/// Bytes that are lent until this is dropped.
#[derive(Debug)]
struct Loan {
    lending: Arc<Lending>,
    bytes: u64,
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.lending.lent_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Lent bytes; the loan ends with the last of them.
struct Lent {
    bytes: Bytes,
    _loan: Arc<Loan>,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_the_memory_is_lent_and_given_back() {
        let lending = Arc::new(Lending::new(4 << 20));
        let first = lending.borrow(600 << 10).unwrap();
        assert!(lending.borrow(600 << 10).is_none());
        let second = lending.borrow(424 << 10).unwrap();
        assert!(lending.borrow(1).is_none());
        drop(first);
        assert!(lending.borrow(600 << 10).is_some());
        drop(second);
        assert_eq!(lending.lent_bytes.load(Ordering::Relaxed), 0);
    }
}
