//! GET and HEAD of an object.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream;
use http_body_util::{BodyExt, Empty, StreamBody};
use hyper::body::Frame;
use hyper::header::{
    ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, IF_MATCH,
    IF_NONE_MATCH, LAST_MODIFIED, RANGE,
};
use hyper::{Method, Response, StatusCode};

use super::answer::{Answer, Body, failure};
use super::connection::{Connection, Shop};
use super::range::{RequestedPart, asked};
use crate::demo::link::CHUNK_BYTES;

/// The modification time of every object.
pub(super) const MODIFIED_ISO: &str = "2025-01-01T00:00:00.000Z";
const MODIFIED: &str = "Wed, 01 Jan 2025 00:00:00 GMT";

/// The version of the object named `key` with `size` bytes, which determine its content. It looks
/// like that of an upload in parts: clients may take 32 digits alone for the content's MD5.
pub(super) fn etag(key: &str, size: u64) -> String {
    let hash = key.bytes().chain(size.to_le_bytes()).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("\"{hash:016x}{size:016x}-1\"")
}

/// Answers a GET or HEAD for the object named `key`.
pub(super) fn answer(connection: &Connection, method: &Method, headers: &HeaderMap, key: &str) -> Answer {
    let Some(size) = connection.shop.bucket.size(key) else {
        return failure(StatusCode::NOT_FOUND, "NoSuchKey", "The specified key does not exist.", key);
    };
    let header = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let etag = etag(key, size);
    if header(IF_MATCH).is_some_and(|wanted| !names(wanted, &etag)) {
        let message = "At least one of the pre-conditions you specified did not hold";
        return failure(StatusCode::PRECONDITION_FAILED, "PreconditionFailed", message, key);
    }
    let builder = Response::builder()
        .header(ETAG, &etag)
        .header(LAST_MODIFIED, MODIFIED)
        .header(ACCEPT_RANGES, "bytes")
        .header(CONTENT_TYPE, "application/octet-stream");
    if header(IF_NONE_MATCH).is_some_and(|known| names(known, &etag)) {
        return finish(builder.status(StatusCode::NOT_MODIFIED), Empty::new().boxed_unsync());
    }
    let (builder, from, to) = match asked(header(RANGE), size) {
        RequestedPart::Whole => (builder, 0, size),
        RequestedPart::Part { from, to } => {
            let range = format!("bytes {from}-{}/{size}", to - 1);
            (builder.status(StatusCode::PARTIAL_CONTENT).header(CONTENT_RANGE, range), from, to)
        }
        RequestedPart::Unsatisfiable => {
            let message = "The requested range is not satisfiable";
            let mut answer = failure(StatusCode::RANGE_NOT_SATISFIABLE, "InvalidRange", message, key);
            let size = format!("bytes */{size}").parse().expect("digits make a header");
            answer.headers_mut().insert(CONTENT_RANGE, size);
            return answer;
        }
    };
    let builder = builder.header(CONTENT_LENGTH, to - from);
    let body = if *method == Method::HEAD {
        Empty::new().boxed_unsync()
    } else {
        content(connection, key.into(), from, to)
    };
    finish(builder, body)
}

/// The bytes `from..to` of the object named `key`, each chunk at the time that the link allows.
fn content(connection: &Connection, key: Arc<str>, from: u64, to: u64) -> Body {
    let shop: Arc<Shop> = Arc::clone(&connection.shop);
    let wire = Arc::clone(&connection.wire);
    let chunks = stream::unfold(from, move |offset| {
        let (shop, wire, key) = (Arc::clone(&shop), Arc::clone(&wire), Arc::clone(&key));
        async move {
            if offset >= to {
                return None;
            }
            let chunk: Bytes = shop.bucket.bytes_at(&key, offset, CHUNK_BYTES.min(to - offset));
            wire.wait_turn(chunk.len() as u64).await;
            shop.counters.add(&key, chunk.len() as u64);
            let next = offset + chunk.len() as u64;
            Some((Ok::<_, Infallible>(Frame::data(chunk)), next))
        }
    });
    StreamBody::new(chunks).boxed_unsync()
}

/// Whether the list of versions in a header contains `etag`.
fn names(list: &str, etag: &str) -> bool {
    list.split(',').map(str::trim).any(|one| one == "*" || one == etag || one == etag.trim_matches('"'))
}

fn finish(builder: hyper::http::response::Builder, body: Body) -> Answer {
    builder.body(body).expect("the headers are written by this program")
}
