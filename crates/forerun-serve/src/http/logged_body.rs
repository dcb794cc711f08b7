//! Bodies that are counted for the access log.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use super::log::{AccessLog, Record};

/// A request that the log has once this is dropped.
pub(super) struct Accessed {
    pub(super) log: Arc<AccessLog>,
    pub(super) record: Record,
    pub(super) begun: Instant,
}

/// The body of an answer.
pub(super) struct Counted {
    body: s3s::Body,
    len: Option<u64>,
    accessed: Option<Accessed>,
}

impl Counted {
    /// Counts the bytes of `body`, which has `len` of them if that is known.
    pub(super) fn new(body: s3s::Body, len: Option<u64>, mut accessed: Option<Accessed>) -> Counted {
        if let Some(accessed) = &mut accessed {
            // Nothing of it is asked for then.
            accessed.record.is_complete = body.is_end_stream() || len == Some(0);
        }
        Counted { body, len, accessed }
    }
}

impl Body for Counted {
    type Data = Bytes;
    type Error = s3s::StdError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, s3s::StdError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        let (is_end, len) = (self.body.is_end_stream(), self.len);
        if let (Poll::Ready(frame), Some(accessed)) = (&polled, &mut self.accessed) {
            match frame {
                Some(Ok(frame)) => {
                    accessed.record.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
                    // After the last byte of a known length, nobody asks for more.
                    accessed.record.is_complete = is_end || Some(accessed.record.bytes) == len;
                }
                Some(Err(_)) => {}
                None => accessed.record.is_complete = true,
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Accessed {
    fn drop(&mut self) {
        self.record.time = self.begun.elapsed();
        self.log.write(&self.record);
    }
}
