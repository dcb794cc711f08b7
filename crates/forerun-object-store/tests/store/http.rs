//! A server over a store in memory, and the S3 client that reads it.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, ETAG, LAST_MODIFIED};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use object_store::aws::AmazonS3Builder;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ClientOptions, GetOptions, GetRange, ObjectStore, ObjectStoreExt};
use tokio::net::TcpListener;

/// A client of a server of `objects`.
pub(crate) async fn served(objects: Arc<InMemory>) -> Arc<dyn ObjectStore> {
    // Nothing but the first call matters.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let objects = Arc::clone(&objects);
            let service = service_fn(move |request| answer(Arc::clone(&objects), request));
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    let client = AmazonS3Builder::new()
        .with_endpoint(url)
        .with_bucket_name("bucket")
        .with_region("local")
        .with_skip_signature(true)
        .with_client_options(ClientOptions::new().with_allow_http(true));
    Arc::new(client.build().unwrap())
}

async fn answer<B>(objects: Arc<InMemory>, request: Request<B>) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().trim_start_matches("/bucket");
    let location = Path::from_url_path(path).unwrap();
    let Ok(meta) = objects.head(&location).await else { return Ok(status(StatusCode::NOT_FOUND)) };
    let header = |name: &str| text(request.headers(), name);
    let conditions =
        GetOptions::new().with_if_match(header("if-match")).with_if_none_match(header("if-none-match"));
    match conditions.check_preconditions(&meta) {
        Err(object_store::Error::NotModified { .. }) => return Ok(status(StatusCode::NOT_MODIFIED)),
        Err(_) => return Ok(status(StatusCode::PRECONDITION_FAILED)),
        Ok(()) => {}
    }
    let range = header("range").map(|range| asked(&range).as_range(meta.size));
    let (code, extent) = match range {
        None => (StatusCode::OK, 0..meta.size),
        Some(Ok(extent)) if !extent.is_empty() => (StatusCode::PARTIAL_CONTENT, extent),
        Some(_) => return Ok(status(StatusCode::RANGE_NOT_SATISFIABLE)),
    };
    let modified = meta.last_modified.format("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let mut response = Response::builder()
        .status(code)
        .header(ACCEPT_RANGES, "bytes")
        .header(ETAG, meta.e_tag.clone().unwrap_or_default())
        .header(LAST_MODIFIED, modified)
        .header("content-type", "text/plain")
        .header(CONTENT_LENGTH, extent.end - extent.start);
    if code == StatusCode::PARTIAL_CONTENT {
        let range = format!("bytes {}-{}/{}", extent.start, extent.end - 1, meta.size);
        response = response.header(CONTENT_RANGE, range);
    }
    let body = match *request.method() {
        Method::HEAD => Bytes::new(),
        _ => objects.get(&location).await.unwrap().bytes().await.unwrap(),
    };
    let body = if body.is_empty() { body } else { body.slice(extent.start as usize..extent.end as usize) };
    Ok(response.body(body.into()).unwrap())
}

fn asked(range: &str) -> GetRange {
    let (first, last) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
    match (first.parse(), last.parse::<u64>()) {
        (Ok(first), Ok(last)) => GetRange::Bounded(first..last + 1),
        (Ok(first), Err(_)) => GetRange::Offset(first),
        (Err(_), last) => GetRange::Suffix(last.unwrap()),
    }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).map(|value| value.to_str().unwrap().to_owned())
}

fn status(code: StatusCode) -> Response<Full<Bytes>> {
    Response::builder().status(code).body(Bytes::new().into()).unwrap()
}
