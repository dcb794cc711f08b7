//! The bytes of answers.
//!
//! A body reads a piece once the client has taken the one before. Pieces are lent by the engine, up to a part of
//! its memory for all clients together. Where that is lent, and to a client that is slow, pieces are small and
//! copied.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use forerun::{Advice, Extent, Reader, Result};
use futures::{Stream, StreamExt, TryStreamExt, stream};
use tokio::sync::OwnedSemaphorePermit;

use crate::sending::{PIECE_BYTES_MAX, Pool};
use crate::served::Bucket;

/// The smallest piece. It is copied, so that a client that stops holds no more.
const PIECE_BYTES_MIN: u32 = 16 << 10;
/// A client that takes a piece within this time gets a larger one next, and another a smaller one.
const QUICK: Duration = Duration::from_millis(50);
/// A request for no more than this is announced to the engine as a whole. Of a longer one the client may
/// take only the beginning.
const ANNOUNCED_BYTES_MAX: u64 = 16 << 20;

/// The bytes of one part of an object, from where the next piece begins.
struct Sending {
    reader: Reader,
    lending: Pool,
    rest: Extent,
    piece_bytes: u32,
    /// When the last piece was handed over.
    since: Option<Instant>,
}

/// Bytes that the engine has lent.
struct Lent {
    bytes: Bytes,
    _permit: Arc<OwnedSemaphorePermit>,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The bytes of `extent`. The first of them are there when this returns.
///
/// # Errors
/// If the first bytes cannot be read. If later bytes cannot, the stream ends with an error.
pub(super) async fn bytes(
    bucket: &Bucket,
    reader: Reader,
    extent: Extent,
) -> Result<impl Stream<Item = Result<Bytes>> + Send + use<>> {
    if extent.len > u64::from(PIECE_BYTES_MAX) {
        let whole = [extent];
        let is_announced = extent.len <= ANNOUNCED_BYTES_MAX;
        reader.advise(if is_announced { Advice::WillNeed(&whole) } else { Advice::Sequential });
    }
    let lending = bucket.answers.clone();
    let mut sending =
        Sending { reader, lending, rest: extent, piece_bytes: PIECE_BYTES_MAX / 4, since: None };
    let first = sending.next().await?;
    let others = stream::try_unfold(sending, |mut sending| async move {
        let pieces = sending.next().await?;
        Ok((!pieces.is_empty()).then_some((pieces, sending)))
    });
    let pieces = stream::once(async move { Ok(first) }).chain(others);
    Ok(pieces.map_ok(|pieces| stream::iter(pieces.into_iter().map(Ok))).try_flatten())
}

impl Sending {
    /// The next piece, in as many parts as it has in memory; none at the end.
    async fn next(&mut self) -> Result<Vec<Bytes>> {
        if self.rest.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(since) = self.since {
            let is_quick = since.elapsed() < QUICK;
            self.piece_bytes = if is_quick { self.piece_bytes * 2 } else { self.piece_bytes / 2 };
            self.piece_bytes = self.piece_bytes.clamp(PIECE_BYTES_MIN, PIECE_BYTES_MAX);
        }
        let is_lent = self.piece_bytes > PIECE_BYTES_MIN;
        let permit = if is_lent { self.lending.try_take(self.piece_bytes) } else { None };
        let len = if permit.is_some() { self.piece_bytes } else { PIECE_BYTES_MIN };
        let len = self.rest.len.min(u64::from(len));
        let lease = self.reader.lease(self.rest.offset, len as usize).await?;
        self.rest = Extent::between(self.rest.offset + len, self.rest.end());
        let pieces = match permit.map(Arc::new) {
            Some(permit) => {
                let lent = |bytes| Bytes::from_owner(Lent { bytes, _permit: Arc::clone(&permit) });
                lease.into_bytes().into_iter().map(lent).collect()
            }
            None => lease.slices().map(Bytes::copy_from_slice).collect(),
        };
        self.since = Some(Instant::now());
        Ok(pieces)
    }
}
