//! Bounds on the size and the slowness of answers: a bad server costs only its own readers.

use std::time::Duration;

use bytes::Bytes;
use futures::{Stream, StreamExt};
use object_store::client::HttpError;
use tokio::time::{Instant, timeout_at};

use crate::http::client_error;
use crate::{Error, ErrorKind};

/// The largest page of a listing: some 200,000 links of a web server. Object stores
/// send a thousand keys a page, which is at most 4 MiB.
pub(crate) const PAGE_BYTES_MAX: usize = 32 << 20;
/// How long one page of a listing may take.
pub(crate) const PAGE_TIME_MAX: Duration = Duration::from_secs(120);
/// Pages of one listing: a store may send pages without entries.
pub(crate) const PAGES_MAX: usize = 16 << 10;
/// Entries of one directory.
pub(crate) const ENTRIES_MAX: usize = 1 << 20;
/// The client reads a refusal up to this size, for at most this time.
pub(crate) const REFUSAL_BYTES_MAX: usize = 64 << 10;
pub(crate) const REFUSAL_TIME_MAX: Duration = Duration::from_secs(5);
/// Of what a server says, a message quotes so much.
pub(crate) const QUOTE_CHARS_MAX: usize = 500;
/// The longest wait that a server can ask for: `--retry-timeout` may be longer.
pub(crate) const RETRY_AFTER_MAX: Duration = Duration::from_secs(300);
/// Redirects of one request to a web server, and how long they may take, with the answer that they
/// lead to. Each answer must begin within [`IDLE_TIMEOUT`](crate::http::IDLE_TIMEOUT).
pub(crate) const REDIRECTS_MAX: usize = 10;
pub(crate) const REDIRECTS_TIME_MAX: Duration = Duration::from_secs(30);
/// The longest version of an object: it is kept with each name. The client reads answers with headers of
/// up to 400 KiB, and stores use less than 100 bytes.
pub(crate) const VERSION_BYTES_MAX: usize = 1 << 10;
/// The longest URL that a web server may redirect a listing to, and the longest link there:
/// each link is resolved against that URL.
pub(crate) const URL_BYTES_MAX: usize = 8 << 10;

/// In so much time of waiting
const PROGRESS_TIME: Duration = Duration::from_secs(10);
/// so much must arrive. The slowest links that people use carry ten times as much.
pub(crate) const PROGRESS_BYTES_MIN: u64 = 4 << 10;

/// Whether bytes arrive fast enough to wait for more: a server may send one every few seconds,
/// for ever.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    waited: Duration,
    bytes: u64,
}

impl Pace {
    /// `bytes` arrived after a wait of `waited`. False if that is too slow.
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

/// All of a page of a listing that comes in `pieces`.
///
/// # Errors
/// Of a page that is larger than [`PAGE_BYTES_MAX`], takes longer than [`PAGE_TIME_MAX`] or hardly
/// arrives, or what `pieces` fail with.
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

/// The body of an answer that refuses a request, as far as it arrives soon.
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

    /// `bytes` each second, for ever.
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
