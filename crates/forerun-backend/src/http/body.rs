//! A response body of a known length.

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use object_store::client::HttpError;
use url::Url;

use super::client::{Response, client_error, shown};
use crate::{ByteStream, Error, ErrorKind, Result};

struct Body {
    pieces: BoxStream<'static, Result<Bytes, HttpError>>,
    url: Url,
    /// Bytes that have not arrived yet.
    left: u64,
}

/// Streams the body of `response`; fails if it has fewer or more than `len` bytes.
pub(super) fn stream(response: Response, url: Url, len: u64) -> ByteStream {
    let body = Body { pieces: response.bytes_stream(), url, left: len };
    futures::stream::try_unfold(body, Body::next).boxed()
}

impl Body {
    async fn next(mut self) -> Result<Option<(Bytes, Body)>> {
        let piece = self.pieces.try_next().await.map_err(|error| client_error(&error, &shown(&self.url)))?;
        match piece {
            None if self.left == 0 => Ok(None),
            None => Err(self.error(ErrorKind::Transient, "ended early")),
            Some(piece) if piece.len() as u64 > self.left => {
                Err(self.error(ErrorKind::Permanent, "is longer than the server announced"))
            }
            Some(piece) => {
                self.left -= piece.len() as u64;
                Ok(Some((piece, self)))
            }
        }
    }

    fn error(&self, kind: ErrorKind, what: &str) -> Error {
        Error::new(
            kind,
            format!("{}: the body {what} ({} bytes were still expected)", shown(&self.url), self.left),
        )
    }
}
