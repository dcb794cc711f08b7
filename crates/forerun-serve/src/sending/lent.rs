//! Bytes in memory on their way to a client.

use forerun::Lease;
use tokio::sync::OwnedSemaphorePermit;

use super::PIECE_BYTES_MAX;

/// Bytes of a read.
#[derive(Debug)]
pub(crate) struct Lent {
    bytes: Bytes,
    permit: OwnedSemaphorePermit,
}

#[derive(Debug)]
enum Bytes {
    Leased(Lease<'static>),
    /// Of an overlay, besides the engine's memory.
    Gathered(Vec<u8>),
}

impl Lent {
    pub(crate) fn leased(lease: Lease<'static>, permit: OwnedSemaphorePermit) -> Lent {
        Lent { bytes: Bytes::Leased(lease), permit }
    }

    pub(crate) fn gathered(bytes: Vec<u8>, permit: OwnedSemaphorePermit) -> Lent {
        Lent { bytes: Bytes::Gathered(bytes), permit }
    }

    pub(crate) fn len(&self) -> usize {
        match &self.bytes {
            Bytes::Leased(lease) => lease.len(),
            Bytes::Gathered(bytes) => bytes.len(),
        }
    }

    /// The bytes, in order, as they lie in memory.
    pub(crate) fn slices(&self) -> impl Iterator<Item = &[u8]> {
        let (lease, gathered) = match &self.bytes {
            Bytes::Leased(lease) => (Some(lease), None),
            Bytes::Gathered(bytes) => (None, Some(bytes.as_slice())),
        };
        lease.into_iter().flat_map(Lease::slices).chain(gathered)
    }

    /// A copy of at most `most` bytes behind the first `skip`.
    pub(crate) fn copy(&self, mut skip: usize, most: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(most.min(self.len().saturating_sub(skip)));
        for slice in self.slices() {
            let skipped = skip.min(slice.len());
            skip -= skipped;
            let len = (slice.len() - skipped).min(most - bytes.len());
            bytes.extend_from_slice(&slice[skipped..][..len]);
        }
        bytes
    }

    /// Whether others may have to wait for such memory.
    pub(crate) fn is_scarce(&self) -> bool {
        self.permit.semaphore().available_permits() < PIECE_BYTES_MAX as usize
    }

    /// Whether a client can be told of zeros instead.
    pub(crate) fn is_zero(&self) -> bool {
        // Sums of words: the compiler makes them wide, and bytes that are not zero end them early.
        self.slices()
            .all(|slice| slice.chunks(256).all(|bytes| bytes.iter().fold(0, |sum, byte| sum | byte) == 0))
    }
}
