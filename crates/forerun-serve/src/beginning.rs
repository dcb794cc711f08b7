//! A connection whose client has to begin in time.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// The first bytes of a client of HTTP/2 (RFC 9113, section 3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A stream whose reads fail if its client does not begin in time. The server looks at the first bytes to tell
/// HTTP/2 from HTTP/1, and has no limit of its own for that.
#[derive(Debug)]
pub(crate) struct Beginning<S> {
    stream: S,
    /// The limit, and how much of [`PREFACE`] has come. None once the version is clear.
    unclear: Option<(Pin<Box<Sleep>>, usize)>,
}

impl<S> Beginning<S> {
    /// Called within a runtime.
    pub(crate) fn new(stream: S, time_max: Duration) -> Beginning<S> {
        Beginning { stream, unclear: Some((Box::pin(tokio::time::sleep(time_max)), 0)) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Beginning<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(context, buf);
        let Some((timer, seen)) = &mut self.unclear else { return result };
        if result.is_pending() {
            return timer.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()));
        }
        let (new, rest) = (&buf.filled()[before..], &PREFACE[*seen..]);
        *seen += new.len();
        if new.len() >= rest.len() || !rest.starts_with(new) {
            self.unclear = None;
        }
        result
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Beginning<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::sleep;

    use super::*;

    const TIME_MAX: Duration = Duration::from_secs(60);

    /// Whether the connection is given up whose client sends `parts`, one every 25 s.
    async fn is_given_up(parts: &[&[u8]]) -> bool {
        let (near, mut far) = tokio::io::duplex(100);
        let mut near = Beginning::new(near, TIME_MAX);
        let reading = tokio::spawn(async move { near.read_to_end(&mut Vec::new()).await });
        for part in parts {
            far.write_all(part).await.unwrap();
            sleep(Duration::from_secs(25)).await;
        }
        sleep(2 * TIME_MAX).await;
        drop(far);
        reading.await.unwrap().is_err_and(|error| error.kind() == io::ErrorKind::TimedOut)
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_whose_version_stays_unclear_is_given_up() {
        assert!(is_given_up(&[]).await);
        assert!(is_given_up(&[b"PRI", b" * HTTP/2.0\r\n"]).await);
        assert!(!is_given_up(&[b"G"]).await);
        assert!(!is_given_up(&[b"P", b"RI * X"]).await);
        assert!(!is_given_up(&[b"PRI * HTTP/2.0\r\n\r\n", b"SM\r\n\r\n and more"]).await);
    }
}
