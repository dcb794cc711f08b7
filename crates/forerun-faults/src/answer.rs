//! An answer to a request, and the flow of its body.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use forerun_backend::{HttpError, HttpErrorKind, HttpResponse, HttpResponseBody};
use futures::stream;
use http_body::Frame;
use http_body_util::StreamBody;

use crate::fault::{Fault, IDLE_TIMEOUT};

/// An answer as an honest server sends it.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Bytes,
    /// Whether it answers HEAD: the body is not sent.
    pub(crate) is_head: bool,
    /// For a part: the object's first byte in the body, and the object's size.
    pub(crate) part: Option<(u64, u64)>,
}

/// How a body ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Whole,
    Broken,
    Silent,
}

impl Answer {
    pub(crate) fn new(status: u16) -> Answer {
        Answer { status, ..Answer::default() }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Answer {
        self.set(name, value.into());
        self
    }

    pub(crate) fn page(kind: &str, text: String) -> Answer {
        Answer { body: text.into(), ..Answer::new(200) }.with("content-type", kind)
    }

    fn set(&mut self, name: &'static str, value: String) {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value));
    }

    /// The answer with `fault` in it.
    pub(crate) fn harmed(mut self, fault: Option<Fault>, id: u64) -> Answer {
        let is_success = self.status < 300;
        match fault {
            Some(Fault::Shift) => {
                if let Some((start, size)) = self.part {
                    let (from, to) = (start + 1, start + self.body.len() as u64);
                    self.set("content-range", format!("bytes {from}-{to}/{}", size.max(to + 1)));
                }
            }
            Some(Fault::Size) if is_success => match self.part {
                Some((start, size)) if !self.body.is_empty() => {
                    let last = start + self.body.len() as u64 - 1;
                    self.set("content-range", format!("bytes {start}-{last}/{}", size + 1 + id % 7));
                }
                _ => self.set("content-length", (self.body.len() as u64 + 1 + id % 7).to_string()),
            },
            Some(Fault::Length) if is_success => {
                self.set("content-length", (self.body.len() as u64 / 2).to_string());
            }
            Some(Fault::Tag) if is_success => self.set("etag", format!("\"another-{id}\"")),
            Some(Fault::Compress) if is_success => self.set("content-encoding", "gzip".to_owned()),
            Some(Fault::Long) => self.body = [&self.body[..], b"more"].concat().into(),
            _ => {}
        }
        self
    }

    /// Sends the answer piece by piece; `open` lives as long as its body.
    pub(crate) fn send(
        mut self,
        fault: Option<Fault>,
        piece: (usize, Duration),
        open: Arc<()>,
    ) -> HttpResponse {
        let body = if self.is_head { Bytes::new() } else { std::mem::take(&mut self.body) };
        let upto = |share: u64| body.slice(..body.len() * share as usize / 1000);
        let (body, end) = match fault {
            Some(Fault::Cut(share)) => (upto(share), End::Broken),
            Some(Fault::Short(share)) => (upto(share), End::Whole),
            Some(Fault::Stall(share)) => (upto(share), End::Silent),
            // HTTP itself ends or breaks a body at its stated length.
            Some(Fault::Length) => (upto(500), End::Whole),
            Some(Fault::Size) if self.part.is_none() => (body, End::Broken),
            _ => (body, End::Whole),
        };
        let (piece, wait) = match fault {
            Some(Fault::Trickle(bytes)) => (bytes as usize, Duration::from_secs(1)),
            _ => piece,
        };
        if !self.is_head && matches!(fault, Some(Fault::Short(_) | Fault::Long)) {
            self.headers.retain(|(name, _)| *name != "content-length");
        }
        let mut response = HttpResponse::new(flow(body, piece, wait, end, open));
        *response.status_mut() = self.status.try_into().expect("a status");
        for (name, value) in self.headers {
            response.headers_mut().insert(name, value.parse().expect("a header"));
        }
        response
    }
}

fn flow(body: Bytes, piece: usize, wait: Duration, end: End, open: Arc<()>) -> HttpResponseBody {
    let pieces = stream::unfold((body, Some(end), open), move |(mut body, end, open)| async move {
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        if !body.is_empty() {
            let piece = body.split_to(piece.min(body.len()));
            return Some((Ok(Frame::data(piece)), (body, end, open)));
        }
        let error = match end? {
            End::Whole => return None,
            End::Broken => failure(HttpErrorKind::Interrupted, "the connection broke"),
            End::Silent => {
                tokio::time::sleep(IDLE_TIMEOUT).await;
                failure(HttpErrorKind::Timeout, "nothing came in time")
            }
        };
        Some((Err(error), (body, None, open)))
    });
    HttpResponseBody::new(StreamBody::new(pieces))
}

/// The error of the HTTP client for a request without an answer.
pub(crate) fn failure(kind: HttpErrorKind, what: &str) -> HttpError {
    HttpError::new(kind, std::io::Error::other(what.to_owned()))
}
