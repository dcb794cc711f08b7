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
    accessed: Option<Accessed>,
}

impl Counted {
    pub(super) fn new(body: s3s::Body, mut accessed: Option<Accessed>) -> Counted {
        if let Some(accessed) = &mut accessed {
            // Nothing of it is asked for then.
            accessed.record.is_complete = body.is_end_stream();
        }
        Counted { body, accessed }
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
        let is_end = self.body.is_end_stream();
        if let (Poll::Ready(frame), Some(accessed)) = (&polled, &mut self.accessed) {
            match frame {
                Some(Ok(frame)) => {
                    accessed.record.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
                    accessed.record.is_complete = is_end;
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
