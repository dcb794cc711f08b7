//! Answers with an object, or parts of it.

use std::sync::Arc;

use bytes::Bytes;
use forerun::{ClientId, Entry, ErrorKind, Extent, Reader, Result};
use futures::{StreamExt, TryStreamExt, stream};
use http_body_util::StreamBody;
use hyper::body::{Frame, Incoming};
use hyper::header::{ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, LAST_MODIFIED, RANGE};
use hyper::http::response::Builder;
use hyper::{Method, Request, Response, StatusCode};

use super::failure;
use super::media::media_type;
use crate::http::Answer;
use crate::http::body;
use crate::http::range::{Asked, asked};
use crate::http::server::Sharer;
use crate::http::validators::{Validators, Verdict};
use crate::served::Bucket;

/// The answer about the object at `path`.
///
/// # Errors
/// If there is none, or if the storage fails before the first bytes.
pub(super) async fn answer(bucket: &Arc<Bucket>, request: &Request<Incoming>, path: &str) -> Result<Answer> {
    let entry = bucket.file(path).await?;
    match of_version(bucket, request, &entry).await {
        // The next version is as good, since no byte was sent of this one.
        Err(error) if error.kind == ErrorKind::Changed => {
            bucket.forget(&entry);
            let entry = bucket.file(path).await?;
            of_version(bucket, request, &entry).await
        }
        answer => answer,
    }
}

async fn of_version(bucket: &Arc<Bucket>, request: &Request<Incoming>, entry: &Entry) -> Result<Answer> {
    let validators = Validators::of(entry);
    let headers = request.headers();
    let described = described(&validators);
    match validators.verdict(headers) {
        Verdict::Holds => {}
        Verdict::NotModified => return Ok(empty(described.status(StatusCode::NOT_MODIFIED))),
        Verdict::Failed => {
            return Ok(failure::text(StatusCode::PRECONDITION_FAILED, "the object has another version"));
        }
    }
    let media_type = media_type(entry.name());
    if *request.method() == Method::HEAD {
        let answer = described.header(CONTENT_LENGTH, entry.size).header(CONTENT_TYPE, media_type);
        return Ok(empty(answer));
    }
    let range = headers.get(RANGE).filter(|_| validators.allows_range(headers));
    let client = request.extensions().get().map_or_else(ClientId::default, |Sharer(client)| *client);
    let of_client = || bucket.reader(entry, client);
    let asked = match range.and_then(|range| range.to_str().ok()) {
        Some(range) => asked(range, entry.size),
        None => Asked::Whole,
    };
    match asked {
        Asked::Whole => {
            let answer = described.header(CONTENT_TYPE, media_type);
            with_part(bucket, of_client(), Extent::new(0, entry.size), answer).await
        }
        Asked::Parts(parts) => match parts[..] {
            [part] => {
                let answer = described.status(StatusCode::PARTIAL_CONTENT).header(CONTENT_TYPE, media_type);
                with_part(
                    bucket,
                    of_client(),
                    part,
                    answer.header(CONTENT_RANGE, content_range(part, entry.size)),
                )
                .await
            }
            _ => with_parts(bucket, of_client(), parts, described).await,
        },
        Asked::Unsatisfiable => {
            let mut answer = failure::text(StatusCode::RANGE_NOT_SATISFIABLE, "the object has no such bytes");
            let range = format!("bytes */{}", entry.size).parse().expect("a header");
            answer.headers_mut().insert(CONTENT_RANGE, range);
            Ok(answer)
        }
    }
}

/// An answer with what is said of every version.
fn described(validators: &Validators) -> Builder {
    let answer = Response::builder().header(ACCEPT_RANGES, "bytes").header(ETAG, &validators.etag);
    match validators.modified {
        Some(modified) => answer.header(LAST_MODIFIED, httpdate::fmt_http_date(modified)),
        None => answer,
    }
}

fn empty(answer: Builder) -> Answer {
    // A version that a store describes may have no header.
    answer.body(s3s::Body::empty()).unwrap_or_else(|_| failure::text(StatusCode::BAD_GATEWAY, "bad ETag"))
}

fn content_range(part: Extent, size: u64) -> String {
    format!("bytes {}-{}/{size}", part.offset, part.end() - 1)
}

async fn with_part(bucket: &Bucket, reader: Reader, part: Extent, answer: Builder) -> Result<Answer> {
    let bytes = body::bytes(bucket, reader, part).await?;
    let body = s3s::Body::http_body_unsync(StreamBody::new(bytes.map_ok(Frame::data)));
    let answer = answer.header(CONTENT_LENGTH, part.len).body(body);
    Ok(answer.unwrap_or_else(|_| failure::text(StatusCode::BAD_GATEWAY, "bad ETag")))
}

/// Several parts, each with a head of its own (RFC 9110, section 14.6).
async fn with_parts(
    bucket: &Arc<Bucket>,
    reader: Reader,
    parts: Vec<Extent>,
    answer: Builder,
) -> Result<Answer> {
    let boundary = boundary();
    let media_type = media_type(reader.entry().name());
    let head = |part: &Extent| {
        let range = content_range(*part, reader.size());
        format!("\r\n--{boundary}\r\nContent-Type: {media_type}\r\nContent-Range: {range}\r\n\r\n")
    };
    let end = format!("\r\n--{boundary}--\r\n");
    let parts: Vec<(Bytes, Extent)> = parts.iter().map(|part| (head(part).into(), *part)).collect();
    let len = parts.iter().map(|(head, part)| head.len() as u64 + part.len).sum::<u64>() + end.len() as u64;
    let bucket = Arc::clone(bucket);
    let bytes = stream::iter(parts).then(move |(head, part)| {
        let (bucket, reader) = (Arc::clone(&bucket), reader.clone());
        async move {
            let bytes = body::bytes(&bucket, reader, part).await?;
            Ok::<_, forerun::Error>(stream::once(async move { Ok(head) }).chain(bytes))
        }
    });
    let bytes = bytes.try_flatten().chain(stream::once(async move { Ok(Bytes::from(end)) }));
    let body = s3s::Body::http_body_unsync(StreamBody::new(bytes.map_ok(Frame::data)));
    let answer = answer.status(StatusCode::PARTIAL_CONTENT).header(CONTENT_LENGTH, len);
    let answer = answer.header(CONTENT_TYPE, format!("multipart/byteranges; boundary={boundary}")).body(body);
    Ok(answer.unwrap_or_else(|_| failure::text(StatusCode::BAD_GATEWAY, "bad ETag")))
}

/// A line that no object contains, as far as anybody can plan.
fn boundary() -> String {
    use std::hash::{BuildHasher, RandomState};
    let part = || RandomState::new().hash_one(0_u8);
    format!("forerun-{:016x}{:016x}", part(), part())
}
