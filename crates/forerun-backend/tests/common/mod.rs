//! A web server that misbehaves on demand.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use http_body_util::{BodyExt, Empty, Full, StreamBody, combinators::BoxBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{self, HeaderMap};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use url::Url;

type Body = BoxBody<Bytes, io::Error>;

/// The misbehaviour of the server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manners {
    pub ignores_range: bool,
    pub ignores_conditions: bool,
    pub refuses_head: bool,
    pub weak_etags: bool,
    pub no_etags: bool,
    pub no_dates: bool,
    pub compresses: bool,
    pub chunked: bool,
    /// Directories answer without their slash as well.
    pub bare_directories: bool,
    /// Subtracted from the first byte in Content-Range.
    pub range_shift: u64,
    /// Replaces the size in Content-Range.
    pub range_total: Option<u64>,
    /// The next bodies break after this many bytes.
    pub cuts: VecDeque<usize>,
    /// The status of each of the next answers.
    pub statuses: VecDeque<u16>,
    /// These paths answer 503 this many times first.
    pub stumbles: BTreeMap<String, usize>,
    /// The status of every answer.
    pub always: Option<u16>,
    /// The Retry-After of answers without the object.
    pub retry_after: Option<String>,
    /// The delay of each answer.
    pub latency: Duration,
    /// More concurrent requests than these are answered 503.
    pub at_once_max: Option<usize>,
    /// The most concurrent requests so far.
    pub at_once_peak: usize,
    /// The targets of redirected paths.
    pub redirects: BTreeMap<String, String>,
}

struct File {
    bytes: Bytes,
    version: u64,
}

#[derive(Default)]
struct Site {
    files: BTreeMap<String, File>,
    manners: Manners,
    requests: Vec<String>,
    at_once: usize,
}

/// A running server.
pub(crate) struct Server {
    address: SocketAddr,
    site: Arc<Mutex<Site>>,
}

impl Server {
    pub(crate) async fn start(tree: &[(String, Bytes)]) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Server { address: listener.local_addr().unwrap(), site: Arc::default() };
        tree.iter().for_each(|(path, bytes)| server.put(path, bytes.clone()));
        let site = server.site.clone();
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                let site = site.clone();
                let service = service_fn(move |request: Request<Incoming>| {
                    let asked = Asked::at(&site);
                    let answer = answer(&mut site.lock().unwrap(), &request);
                    let latency = site.lock().unwrap().manners.latency;
                    async move {
                        tokio::time::sleep(latency).await;
                        drop(asked);
                        Ok::<_, Infallible>(answer)
                    }
                });
                tokio::spawn(
                    hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(connection), service),
                );
            }
        });
        server
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    pub(crate) fn put(&self, path: &str, bytes: impl Into<Bytes>) {
        let mut site = self.site.lock().unwrap();
        let version = site.files.get(path).map_or(0, |file| file.version) + 1;
        site.files.insert(path.to_owned(), File { bytes: bytes.into(), version });
    }

    pub(crate) fn behave<T>(&self, change: impl FnOnce(&mut Manners) -> T) -> T {
        change(&mut self.site.lock().unwrap().manners)
    }

    /// The requests since the last call: method and path.
    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.site.lock().unwrap().requests)
    }
}

/// A request that is being answered.
struct Asked(Arc<Mutex<Site>>);

impl Asked {
    fn at(site: &Arc<Mutex<Site>>) -> Asked {
        site.lock().unwrap().at_once += 1;
        Asked(Arc::clone(site))
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.0.lock().unwrap().at_once -= 1;
    }
}

fn answer(site: &mut Site, request: &Request<Incoming>) -> Response<Body> {
    site.requests.push(format!("{} {}", request.method(), request.uri().path()));
    site.manners.at_once_peak = site.manners.at_once_peak.max(site.at_once);
    if site.manners.at_once_max.is_some_and(|most| site.at_once > most) {
        return status_only(503);
    }
    if let Some(status) = site.manners.statuses.pop_front().or(site.manners.always) {
        let builder = Response::builder().status(status);
        let retry_after = site.manners.retry_after.iter();
        let builder = retry_after.fold(builder, |builder, after| builder.header(header::RETRY_AFTER, after));
        return builder.body(empty()).unwrap();
    }
    if let Some(left @ 1..) = site.manners.stumbles.get_mut(request.uri().path()) {
        *left -= 1;
        return status_only(503);
    }
    if let Some(location) = site.manners.redirects.get(request.uri().path()) {
        let builder = Response::builder().status(302).header(header::LOCATION, location);
        return builder.body(empty()).unwrap();
    }
    if request.method() == Method::HEAD && site.manners.refuses_head {
        return status_only(405);
    }
    let path = decode(&request.uri().path()[1..]);
    if let Some(directory) = path.strip_suffix('/').or(path.is_empty().then_some("")) {
        return listing(site, directory);
    }
    let Some(file) = site.files.get(&path) else {
        let below = format!("{path}/");
        if site.files.keys().any(|key| key.starts_with(&below)) {
            if site.manners.bare_directories {
                return listing(site, &path);
            }
            let location = format!("{}/", request.uri().path());
            return Response::builder().status(301).header(header::LOCATION, location).body(empty()).unwrap();
        }
        return status_only(404);
    };
    let cut = site.manners.cuts.pop_front().filter(|_| request.method() == Method::GET);
    serve(file, &site.manners, request.headers(), cut)
}

fn serve(file: &File, manners: &Manners, headers: &HeaderMap, cut: Option<usize>) -> Response<Body> {
    let etag = format!("{}\"v{}\"", if manners.weak_etags { "W/" } else { "" }, file.version);
    let date = format!("Sat, 21 Nov 2026 10:00:{:02} GMT", file.version);
    let text = |name| headers.get(name).map(|value: &header::HeaderValue| value.to_str().unwrap());
    if !manners.ignores_conditions {
        let strong = !manners.weak_etags && !manners.no_etags;
        let match_fails = text(header::IF_MATCH).is_some_and(|wanted| !strong || wanted != etag);
        let date_fails = text(header::IF_UNMODIFIED_SINCE).is_some_and(|wanted| wanted < date.as_str());
        if match_fails || date_fails {
            return status_only(412);
        }
    }
    let mut builder = Response::builder().header(header::ACCEPT_RANGES, "bytes");
    if !manners.no_etags {
        builder = builder.header(header::ETAG, etag);
    }
    if !manners.no_dates {
        builder = builder.header(header::LAST_MODIFIED, date);
    }
    if manners.compresses {
        builder = builder.header(header::CONTENT_ENCODING, "gzip");
    }
    let size = file.bytes.len();
    let range = text(header::RANGE).filter(|_| !manners.ignores_range).map(|range| {
        let (first, last) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
        first.parse::<usize>().unwrap()..size.min(last.parse::<usize>().unwrap() + 1)
    });
    let bytes = match range {
        None => file.bytes.clone(),
        Some(range) if range.start >= size => {
            let builder = builder.status(416).header(header::CONTENT_RANGE, format!("bytes */{size}"));
            return builder.body(empty()).unwrap();
        }
        Some(range) => {
            let (shift, total) = (manners.range_shift as usize, manners.range_total.unwrap_or(size as u64));
            let value = format!("bytes {}-{}/{total}", range.start - shift, range.end - 1 - shift);
            builder = builder.status(StatusCode::PARTIAL_CONTENT).header(header::CONTENT_RANGE, value);
            file.bytes.slice(range)
        }
    };
    if !manners.chunked {
        builder = builder.header(header::CONTENT_LENGTH, bytes.len());
    }
    builder.body(body(bytes, cut, manners.chunked)).unwrap()
}

fn body(bytes: Bytes, cut: Option<usize>, chunked: bool) -> Body {
    match cut {
        None if !chunked => Full::new(bytes).map_err(|never| match never {}).boxed(),
        cut => {
            let whole = bytes.slice(..cut.unwrap_or(bytes.len()).min(bytes.len()));
            let pieces = futures::stream::iter([Ok(Frame::data(whole))]);
            let end = futures::stream::iter(cut).then(|_| async {
                // Lets the server send its bytes before it hangs up.
                tokio::task::yield_now().await;
                Err(io::Error::other("cut"))
            });
            BodyExt::boxed(StreamBody::new(pieces.chain(end)))
        }
    }
}

/// The listing of a directory as Python's `http.server` writes it.
fn listing(site: &Site, directory: &str) -> Response<Body> {
    let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
    let below = site.files.keys().filter_map(|key| key.strip_prefix(&prefix));
    let names: std::collections::BTreeSet<String> = below
        .map(|rest| rest.split_once('/').map_or_else(|| rest.to_owned(), |(name, _)| format!("{name}/")))
        .collect();
    if names.is_empty() && !directory.is_empty() {
        return status_only(404);
    }
    let mut page = "<!DOCTYPE HTML>\n<title>Directory listing</title>\n<ul>\n".to_owned();
    for name in names {
        let mut url = Url::parse("http://host/").unwrap();
        url.path_segments_mut().unwrap().pop_if_empty().extend(name.split('/'));
        let href = url.path()[1..].replace('&', "&amp;");
        page +=
            &format!("<li><a href=\"{href}\">{}</a></li>\n", name.replace('&', "&amp;").replace('<', "&lt;"));
    }
    page += "</ul>\n";
    let builder = Response::builder().header(header::CONTENT_TYPE, "text/html; charset=utf-8");
    builder.body(Full::new(page.into()).map_err(|never| match never {}).boxed()).unwrap()
}

fn status_only(status: u16) -> Response<Body> {
    Response::builder().status(status).body(empty()).unwrap()
}

fn empty() -> Body {
    Empty::new().map_err(|never| match never {}).boxed()
}

fn decode(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte == b'%' {
            bytes.push(u8::from_str_radix(std::str::from_utf8(&after[..2]).unwrap(), 16).unwrap());
            rest = &after[2..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).unwrap()
}
