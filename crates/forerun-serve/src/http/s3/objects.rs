//! Objects, and parts of them.

use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};

use bytes::Bytes;
use forerun::{ClientId, Entry, ErrorKind, Extent, Result};
use futures::Stream;
use futures::stream::BoxStream;
use hyper::header::{ETAG, RANGE};
use hyper::{HeaderMap, StatusCode};
use s3s::dto::{
    ETag, GetObjectInput, GetObjectOutput, HeadObjectInput, HeadObjectOutput, StreamingBlob, Timestamp,
};
use s3s::{S3Error, S3Request, S3Response, S3Result, s3_error};

use super::{refusal, request_rules};
use crate::http::body;
use crate::http::range::{Asked, asked};
use crate::http::server::Sharer;
use crate::http::validators::{Validators, Verdict};
use crate::served::Bucket;
use crate::sharers::client_of;

/// The media type of an object of which none is known, as S3 has it.
const MEDIA_TYPE: &str = "binary/octet-stream";

/// The part of one version that a request asks for.
struct Part {
    validators: Validators,
    extent: Extent,
    /// For `Content-Range`, if it is not the whole object.
    range: Option<String>,
}

pub(super) async fn head(
    bucket: &Bucket,
    request: &S3Request<HeadObjectInput>,
) -> S3Result<S3Response<HeadObjectOutput>> {
    let input = &request.input;
    check_version(input.version_id.as_deref())?;
    let entry = bucket.file(&input.key).await.map_err(|error| refusal::of(&error))?;
    let Part { validators, extent, range } =
        Part::of(&entry, request_rules::headers_of(request), input.part_number)?;
    let status = status(range.as_ref());
    let output = HeadObjectOutput {
        accept_ranges: Some("bytes".to_owned()),
        cache_control: input.response_cache_control.clone(),
        content_disposition: input.response_content_disposition.clone(),
        content_encoding: input.response_content_encoding.clone(),
        content_language: input.response_content_language.clone(),
        content_length: Some(extent.len as i64),
        content_range: range,
        content_type: Some(input.response_content_type.clone().unwrap_or_else(|| MEDIA_TYPE.to_owned())),
        e_tag: etag(&validators),
        expires: input.response_expires.clone(),
        last_modified: validators.modified.map(Timestamp::from),
        parts_count: input.part_number.map(|_| 1),
        ..HeadObjectOutput::default()
    };
    Ok(S3Response::with_status(output, status))
}

pub(super) async fn get(
    bucket: &Bucket,
    request: &S3Request<GetObjectInput>,
) -> S3Result<S3Response<GetObjectOutput>> {
    let input = &request.input;
    check_version(input.version_id.as_deref())?;
    let (client, headers) = (client_of_request(request), request_rules::headers_of(request));
    let mut entry = bucket.file(&input.key).await.map_err(|error| refusal::of(&error))?;
    let mut part = Part::of(&entry, headers, input.part_number)?;
    let mut bytes = body::bytes(bucket, bucket.reader(&entry, client), part.extent).await;
    // The next version is as good, since no byte was sent of this one.
    if bytes.as_ref().is_err_and(|error| error.kind == ErrorKind::Changed) {
        bucket.forget(&entry);
        entry = bucket.file(&input.key).await.map_err(|error| refusal::of(&error))?;
        part = Part::of(&entry, headers, input.part_number)?;
        bytes = body::bytes(bucket, bucket.reader(&entry, client), part.extent).await;
    }
    let bytes = bytes.map_err(|error| refusal::of(&error))?;
    let Part { validators, extent, range } = part;
    let status = status(range.as_ref());
    let output = GetObjectOutput {
        accept_ranges: Some("bytes".to_owned()),
        body: Some(StreamingBlob::wrap(Shared(Mutex::new(Box::pin(bytes))))),
        cache_control: input.response_cache_control.clone(),
        content_disposition: input.response_content_disposition.clone(),
        content_encoding: input.response_content_encoding.clone(),
        content_language: input.response_content_language.clone(),
        content_length: Some(extent.len as i64),
        content_range: range,
        content_type: Some(input.response_content_type.clone().unwrap_or_else(|| MEDIA_TYPE.to_owned())),
        e_tag: etag(&validators),
        expires: input.response_expires.clone(),
        last_modified: validators.modified.map(Timestamp::from),
        parts_count: input.part_number.map(|_| 1),
        ..GetObjectOutput::default()
    };
    Ok(S3Response::with_status(output, status))
}

/// The client that asks: an access key, or else a host.
fn client_of_request<T>(request: &S3Request<T>) -> ClientId {
    match &request.credentials {
        Some(credentials) => client_of(&credentials.access_key),
        None => request.extensions.get().map_or_else(ClientId::default, |Sharer(client)| *client),
    }
}

impl Part {
    /// The part of `entry` that a request with `headers` asks for. An object has one part, since stores do not
    /// tell how it was uploaded.
    fn of(entry: &Entry, headers: &HeaderMap, part_number: Option<i32>) -> S3Result<Part> {
        let validators = Validators::of(entry);
        match validators.verdict(headers) {
            Verdict::Holds => {}
            Verdict::NotModified => return Err(not_modified(&validators)),
            Verdict::Failed => return Err(s3_error!(PreconditionFailed, "The object has another version.")),
        }
        let whole = Extent::new(0, entry.size);
        let range = headers.get(RANGE).and_then(|range| range.to_str().ok());
        let extent = match part_number {
            Some(_) if range.is_some() => {
                return Err(s3_error!(InvalidRequest, "Give a range or a part number, and not both."));
            }
            Some(1) => Some(whole).filter(|whole| !whole.is_empty()),
            Some(_) => return Err(s3_error!(InvalidPart, "The object has one part, number 1.")),
            None => match range.filter(|_| validators.allows_range(headers)) {
                Some(range) => part_asked(range, entry.size)?,
                None => None,
            },
        };
        let Some(extent) = extent else { return Ok(Part { validators, extent: whole, range: None }) };
        let range = format!("bytes {}-{}/{}", extent.offset, extent.end() - 1, entry.size);
        Ok(Part { validators, extent, range: Some(range) })
    }
}

/// The part that `range` asks for; none for the whole object. S3 has no answers of several parts. It ignores such a
/// range even if its parts would join to one, or if none lies within the object.
fn part_asked(range: &str, size: u64) -> S3Result<Option<Extent>> {
    if range.contains(',') {
        return Ok(None);
    }
    match asked(range, size) {
        Asked::Unsatisfiable => Err(s3_error!(InvalidRange)),
        Asked::Parts(parts) => Ok(parts.first().copied()),
        Asked::Whole => Ok(None),
    }
}

/// A bucket keeps no versions. The only one of each object is called `null`.
fn check_version(id: Option<&str>) -> S3Result<()> {
    match id {
        None | Some("null") => Ok(()),
        Some(_) => Err(s3_error!(NoSuchVersion, "The bucket keeps no versions.")),
    }
}

/// The client has this version.
fn not_modified(validators: &Validators) -> S3Error {
    let mut told = s3_error!(NotModified);
    if let Ok(etag) = validators.etag.parse() {
        told.set_headers(HeaderMap::from_iter([(ETAG, etag)]));
    }
    told
}

fn status(range: Option<&String>) -> StatusCode {
    if range.is_some() { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK }
}

fn etag(validators: &Validators) -> Option<ETag> {
    ETag::parse_http_header(validators.etag.as_bytes()).ok()
}

/// A stream that only its owner polls, and that threads may share nevertheless.
struct Shared(Mutex<BoxStream<'static, Result<Bytes>>>);

impl Stream for Shared {
    type Item = Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes>>> {
        let stream = self.0.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        stream.as_mut().poll_next(context)
    }
}
