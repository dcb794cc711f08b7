//! Bounds on the size and the time of answers: a bad server harms only its own readers.

use std::time::Duration;

use bytes::Bytes;
use futures::{Stream, StreamExt};
use object_store::client::HttpError;
use tokio::time::{Instant, timeout_at};

use crate::http::client_error;
use crate::{Error, ErrorKind};

/// The largest page of a listing: some 200,000 links of a web server. Object stores send a thousand
/// keys in a page, at most 4 MiB.
pub(crate) const PAGE_BYTES_MAX: usize = 32 << 20;
/// The longest time for one page of a listing.
pub(crate) const PAGE_TIME_MAX: Duration = Duration::from_secs(120);
/// The most pages of one listing: a store may send pages without entries.
pub(crate) const PAGES_MAX: usize = 16 << 10;
/// The most entries of one directory.
pub(crate) const ENTRIES_MAX: usize = 1 << 20;
/// The client reads up to this many bytes of a refusal, for at most this time.
pub(crate) const REFUSAL_BYTES_MAX: usize = 64 << 10;
pub(crate) const REFUSAL_TIME_MAX: Duration = Duration::from_secs(5);
/// The length of a server's words in a message.
pub(crate) const QUOTE_CHARS_MAX: usize = 500;
/// The longest wait that a server can ask for. `--retry-timeout` may be longer.
pub(crate) const RETRY_AFTER_MAX: Duration = Duration::from_secs(300);
/// The most redirects of one request to a web server, and the time for them and the answer. Each
/// answer must begin within [`IDLE_TIMEOUT`](crate::http::IDLE_TIMEOUT).
pub(crate) const REDIRECTS_MAX: usize = 10;
pub(crate) const REDIRECTS_TIME_MAX: Duration = Duration::from_secs(30);
/// The longest version of an object, which is kept with each name. The client reads up to 400 KiB
/// of headers, and stores use less than 100 bytes.
pub(crate) const VERSION_BYTES_MAX: usize = 1 << 10;
/// The longest URL that a web server may redirect a listing to, and the longest link in it: each
/// link is resolved against that URL.
pub(crate) const URL_BYTES_MAX: usize = 8 << 10;

/// A transfer must bring [`PROGRESS_BYTES_MIN`] in this time of waiting.
const PROGRESS_TIME: Duration = Duration::from_secs(10);
/// A tenth of the speed of the slowest links that people use.
pub(crate) const PROGRESS_BYTES_MIN: u64 = 4 << 10;

/// Whether bytes arrive fast enough to wait for more: a server may send one every few seconds, for
/// ever.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    waited: Duration,
    bytes: u64,
}

impl Pace {
    /// Counts `bytes` that arrived after a wait of `waited`. Returns false if that is too slow.
    pub(crate) fn keeps_up(&mut self, waited: Duration, bytes: usize) -> bool {
        self.waited += waited;
        self.bytes += bytes as u64;
        if self.waited < PROGRESS_TIME {
            return true;
        }
        let is_enough = self.bytes >= PROGRESS_BYTES_MIN;
        *self = Pace::default();
        is_enough
    }
}

/// Collects a page of a listing from its `pieces`.
///
/// # Errors
/// If the page exceeds [`PAGE_BYTES_MAX`] or [`PAGE_TIME_MAX`], if its pieces arrive too slowly, or
/// if one of them fails.
pub(crate) async fn page(
    mut pieces: impl Stream<Item = Result<Bytes, HttpError>> + Unpin,
) -> crate::Result<Vec<u8>> {
    let too_slow = || Error::new(ErrorKind::Transient, "the server sends its listing too slowly");
    let deadline = Instant::now() + PAGE_TIME_MAX;
    let (mut page, mut pace) = (Vec::new(), Pace::default());
    loop {
        let asked = Instant::now();
        let Ok(piece) = timeout_at(deadline, pieces.next()).await else { return Err(too_slow()) };
        let piece = piece.transpose().map_err(|error| client_error(&error, "its listing"))?;
        let Some(piece) = piece else { return Ok(page) };
        if page.len() + piece.len() > PAGE_BYTES_MAX {
            let message = format!("a page of its listing is larger than {PAGE_BYTES_MAX} bytes");
            return Err(Error::new(ErrorKind::Permanent, message));
        }
        page.extend_from_slice(&piece);
        if !pace.keeps_up(asked.elapsed(), piece.len()) {
            return Err(too_slow());
        }
    }
}

/// The part of a refusal's body that arrives in time.
pub(crate) async fn refusal<E>(mut pieces: impl Stream<Item = Result<Bytes, E>> + Unpin) -> Vec<u8> {
    let deadline = Instant::now() + REFUSAL_TIME_MAX;
    let mut said = Vec::new();
    while said.len() < REFUSAL_BYTES_MAX
        && let Ok(Some(Ok(piece))) = timeout_at(deadline, pieces.next()).await
    {
        said.extend_from_slice(&piece);
    }
    said.truncate(REFUSAL_BYTES_MAX);
    said
}

#[cfg(test)]
mod tests {
    use futures::stream;

    use super::*;

    /// Sends `bytes` each second, for ever.
    fn trickle(bytes: usize) -> impl Stream<Item = Result<Bytes, HttpError>> + Unpin {
        Box::pin(stream::unfold((), move |()| async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Some((Ok(Bytes::from(vec![b'x'; bytes])), ()))
        }))
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_that_never_ends_is_given_up() {
        let start = Instant::now();
        let too_large = page(trickle(8 << 20)).await.unwrap_err();
        assert!(too_large.message.contains("larger than 33554432 bytes"), "{too_large}");
        assert!(start.elapsed() < Duration::from_secs(6));
        assert!(page(trickle(1)).await.unwrap_err().message.contains("too slowly"));
        assert!(start.elapsed() < Duration::from_secs(17));
        let start = Instant::now();
        assert!(page(trickle(8 << 10)).await.unwrap_err().message.contains("too slowly"));
        assert!(start.elapsed() <= PAGE_TIME_MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_page_arrives() {
        let pieces = trickle(1 << 10).take(100);
        assert_eq!(page(pieces).await.unwrap().len(), 100 << 10);
    }

    #[tokio::test(start_paused = true)]
    async fn of_a_refusal_the_beginning_counts() {
        assert!((4..=5).contains(&refusal(trickle(1)).await.len()));
        assert_eq!(refusal(trickle(1 << 20)).await.len(), REFUSAL_BYTES_MAX);
    }
}
