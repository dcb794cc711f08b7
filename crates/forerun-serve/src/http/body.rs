//! The bytes of answers.
//!
//! Pieces are lent by the engine, up to a part of its memory for all clients together. Where that is lent, and to a
//! client that is slow, pieces are small and copied. A body reads nothing more until such a piece is on its way.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use forerun::{Advice, Extent, Reader, Result};
use futures::{Stream, StreamExt, TryStreamExt, stream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::sending::{PIECE_BYTES_MAX, Pool};
use crate::served::Bucket;

/// The smallest piece. It is copied, so that a client that is slow holds no more.
const PIECE_BYTES_MIN: u32 = 8 << 10;
/// A client takes little of an answer before its pace is known.
const PIECE_BYTES_FIRST: u32 = 64 << 10;
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
    /// A place for one piece that is copied.
    copying: Arc<Semaphore>,
    /// When the last piece was handed over.
    since: Option<Instant>,
}

/// Bytes that take room until the client has them.
struct Held {
    bytes: Bytes,
    _permit: Arc<Option<OwnedSemaphorePermit>>,
}

impl AsRef<[u8]> for Held {
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
    let copying = Arc::new(Semaphore::new(1));
    let mut sending =
        Sending { reader, lending, rest: extent, piece_bytes: PIECE_BYTES_FIRST, copying, since: None };
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
        // The client has taken the last piece, if that was copied. The semaphore is never closed.
        let place = Arc::clone(&self.copying).acquire_owned().await.ok();
        self.adapt();
        let is_lent = self.piece_bytes > PIECE_BYTES_MIN;
        let lent = if is_lent { self.lending.try_take(self.piece_bytes) } else { None };
        let len = if lent.is_some() { self.piece_bytes } else { PIECE_BYTES_MIN };
        let len = self.rest.len.min(u64::from(len));
        let lease = self.reader.lease(self.rest.offset, len as usize).await?;
        self.rest = Extent::between(self.rest.offset + len, self.rest.end());
        let pieces = match &lent {
            Some(_) => held(lease.into_bytes(), lent),
            None => held(lease.slices().map(Bytes::copy_from_slice), place),
        };
        self.since = Some(Instant::now());
        Ok(pieces)
    }

    /// Makes the next piece larger or smaller.
    fn adapt(&mut self) {
        let Some(since) = self.since else { return };
        let is_quick = since.elapsed() < QUICK;
        let piece_bytes = if is_quick { self.piece_bytes * 2 } else { self.piece_bytes / 2 };
        self.piece_bytes = piece_bytes.clamp(PIECE_BYTES_MIN, PIECE_BYTES_MAX);
    }
}

/// `pieces`, which take the room of `permit` until the last of them is gone.
fn held(pieces: impl IntoIterator<Item = Bytes>, permit: Option<OwnedSemaphorePermit>) -> Vec<Bytes> {
    let permit = Arc::new(permit);
    let held = |bytes| Bytes::from_owner(Held { bytes, _permit: Arc::clone(&permit) });
    pieces.into_iter().map(held).collect()
}

#[cfg(test)]
mod tests {
    use forerun::{Forerun, Options};
    use forerun_backend::MemoryBackend;
    use futures::FutureExt;
    use tokio::time;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_slow_client_holds_one_small_piece_and_a_quick_one_gets_larger_ones() {
        let memory = MemoryBackend::new();
        memory.replace("a", vec![7; 1 << 20]);
        let forerun = Forerun::over(Arc::new(memory), Options::default()).unwrap();
        let mut sending = Sending {
            reader: forerun.open("a").await.unwrap(),
            lending: Pool::new(&forerun),
            rest: Extent::new(0, 1 << 20),
            piece_bytes: PIECE_BYTES_MIN,
            copying: Arc::new(Semaphore::new(1)),
            since: None,
        };
        let len = |pieces: &[Bytes]| pieces.iter().map(Bytes::len).sum::<usize>();
        let held = sending.next().await.unwrap();
        assert_eq!(len(&held), PIECE_BYTES_MIN as usize);
        assert!(sending.next().now_or_never().is_none());
        drop(held);
        let lent = [sending.next().await.unwrap(), sending.next().await.unwrap()];
        assert_eq!(
            lent.each_ref().map(|lent| len(lent)),
            [2, 4].map(|times| times * PIECE_BYTES_MIN as usize)
        );
        time::advance(QUICK).await;
        assert_eq!(len(&sending.next().await.unwrap()), 2 * PIECE_BYTES_MIN as usize);
    }
}
