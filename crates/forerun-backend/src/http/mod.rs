//! A web server.

mod body;
mod client;
mod list;
mod listing;
mod range;
mod validator;

use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use object_store::client::HttpClient;
use reqwest::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, InvalidHeaderValue,
    LAST_MODIFIED, RANGE,
};
use reqwest::{Method, StatusCode};
use url::Url;
use validator::State;

use client::Response;
pub(crate) use client::{IDLE_TIMEOUT, client, client_error, retry_after};
pub(crate) use range::content_range;

use crate::bounds::QUOTE_CHARS_MAX;
use crate::tries::Retries;
use crate::{Backend, ByteStream, Entry, Error, ErrorKind, Result, RetryOptions, Version, path};

/// The files below a URL of a web server, or one file.
///
/// A path is a directory where the server redirects it to `path/` or answers
/// there; what a directory holds is read from the page of links that web
/// servers make of one (nginx, Apache, Python's `http.server`, ...).
///
/// An object's version is its strong ETag; for want of one its weak ETag; for
/// want of that its modification time and size. Where a server sends none of
/// these the version is the size alone, and a change that keeps the size goes
/// unnoticed. A server that redirects to mirrors must send the same ETags from
/// all of them.
#[derive(Clone, Debug)]
pub struct HttpBackend {
    client: HttpClient,
    root: Url,
    /// Whether `root` is the one object there is, whatever the path.
    single: bool,
    /// How the files of a listing are tried again.
    retries: Arc<Retries>,
}

/// What a server says of a URL.
struct Found {
    directory: bool,
    /// Whether it is a page of HTML, as the listing of a directory is.
    is_page: bool,
    state: State,
    modified: Option<SystemTime>,
}

impl HttpBackend {
    /// The files below `root`, which is a directory.
    ///
    /// # Errors
    /// [`ErrorKind::Permanent`] if no client can be made, for example for want
    /// of certificates.
    pub fn directory(root: Url) -> Result<HttpBackend> {
        Ok(HttpBackend::directory_by(client::client()?, root, Retries::new(RetryOptions::default())))
    }

    /// The same, asked for by `client`, with the files of a listing tried again by `retries`.
    pub(crate) fn directory_by(client: HttpClient, mut root: Url, retries: Arc<Retries>) -> HttpBackend {
        if let Ok(mut segments) = root.path_segments_mut() {
            segments.pop_if_empty().push("");
        }
        HttpBackend { client, root, single: false, retries }
    }

    /// The one file `url`, at every path, asked for by `client`; for [`Only`](crate::layer::Only).
    pub(crate) fn object_by(client: HttpClient, url: Url, retries: Arc<Retries>) -> HttpBackend {
        HttpBackend { client, root: url, single: true, retries }
    }

    /// What to call the one file `url`: the last segment of its path, decoded.
    pub(crate) fn name_of(url: &Url) -> String {
        let last = url.path_segments().and_then(|mut segments| segments.next_back()).unwrap_or("");
        let name = String::from_utf8_lossy(&listing::decode(last)).replace(['/', '\0'], "_");
        if path::is_name(&name) { name } else { "object".to_owned() }
    }

    /// The URL of `path`; with a trailing slash for a directory.
    fn address(&self, path: &str, directory: bool) -> Result<Url> {
        let names = path::components(path)?;
        let mut url = self.root.clone();
        if self.single && !directory {
            return Ok(url);
        }
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty();
            if !self.single {
                segments.extend(names);
            }
            if directory {
                segments.push("");
            }
        }
        Ok(url)
    }

    /// Asks what is at `url`, with the cheapest request that the server answers.
    async fn find(&self, url: &Url) -> Result<Found> {
        let response = client::send(&self.client, Method::HEAD, url, HeaderMap::new()).await?;
        let status = response.status();
        // Some servers, and URLs signed for GET, refuse HEAD alone.
        let refused = [StatusCode::METHOD_NOT_ALLOWED, StatusCode::NOT_IMPLEMENTED, StatusCode::FORBIDDEN];
        if refused.contains(&status) {
            return self.find_with_get(url).await;
        }
        if !status.is_success() {
            return Err(client::status_error(&response, url));
        }
        match content_length(response.headers()) {
            Some(size) => found(&response, url, size),
            None if is_directory(&response) => found(&response, url, 0),
            None => self.find_with_get(url).await,
        }
    }

    async fn find_with_get(&self, url: &Url) -> Result<Found> {
        let first = HeaderMap::from_iter([(RANGE, HeaderValue::from_static("bytes=0-0"))]);
        let response = client::send(&self.client, Method::GET, url, first).await?;
        let size = match response.status() {
            StatusCode::PARTIAL_CONTENT => {
                range::content_range(response.headers()).and_then(|range| range.total)
            }
            StatusCode::RANGE_NOT_SATISFIABLE => range::unsatisfied_total(response.headers()),
            status if status.is_success() && is_directory(&response) => Some(0),
            status if status.is_success() => content_length(response.headers()),
            _ => return Err(client::status_error(&response, url)),
        };
        match size {
            Some(size) => found(&response, url, size),
            None => Err(Error::new(
                ErrorKind::NoRange,
                format!(
                    "{}: the server does not report a size; only objects of a known size can be read",
                    client::shown(url)
                ),
            )),
        }
    }
}

#[async_trait]
impl Backend for HttpBackend {
    fn url(&self) -> String {
        client::shown(&self.root)
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        let is_root = path.is_empty() && !self.single;
        let url = self.address(path, is_root)?;
        let found = match self.find(&url).await {
            // Not every server redirects a directory without its slash.
            Err(error) if error.kind == ErrorKind::NotFound && !is_root && !self.single => {
                let directory = self.find(&self.address(path, true)?).await.map_err(|_| error)?;
                Found { directory: true, ..directory }
            }
            // Some answer there with the listing itself.
            Ok(found) if found.is_page && !is_root && !is_name_of_page(path) => {
                match self.find(&self.address(path, true)?).await {
                    Ok(directory) if directory.is_page => Found { directory: true, ..directory },
                    Err(error) if error.is_transient() => return Err(error),
                    _ => found,
                }
            }
            found => found?,
        };
        if found.directory || is_root {
            return Ok(Entry::directory(path));
        }
        let file = Entry::described(path, found.state.size, found.state.version())?;
        Ok(Entry { modified: found.modified, ..file })
    }

    async fn list(&self, path: &str) -> Result<Vec<Entry>> {
        self.list_page(path).await
    }

    async fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        Err(Error::not_a_link(path))
    }

    async fn fetch(&self, path: &str, version: &Version, extent: Range<u64>) -> Result<ByteStream> {
        let url = self.address(path, false)?;
        let state = State::parse(version);
        // An unknown version must still find out whether anything is there.
        let headers = part(state.as_ref().unwrap_or(&State::unknown()), &extent)?;
        let response = client::send(&self.client, Method::GET, &url, headers).await?;
        let len = range::check(&response, &url, state.as_ref(), &extent)?;
        Ok(body::stream(response, url, len))
    }
}

/// The headers that ask for `extent` of an object in `state`.
fn part(state: &State, extent: &Range<u64>) -> Result<HeaderMap> {
    let range = format!("bytes={}-{}", extent.start, extent.end - 1);
    let pairs = [(RANGE, range.as_str())].into_iter().chain(state.condition());
    pairs
        .map(|(name, value)| Ok((name, HeaderValue::from_str(value)?)))
        .collect::<Result<HeaderMap, InvalidHeaderValue>>()
        .map_err(|error| Error::new(ErrorKind::Invalid, format!("a version cannot be asked for: {error}")))
}

fn found(response: &Response, url: &Url, size: u64) -> Result<Found> {
    refuse_encoding(response.headers(), url)?;
    let modified = response.headers().get(LAST_MODIFIED).and_then(|value| value.to_str().ok());
    Ok(Found {
        directory: is_directory(response) && !url.path().ends_with('/'),
        is_page: is_page(response),
        state: State::of(response.headers(), size),
        modified: modified.and_then(|value| httpdate::parse_http_date(value).ok()),
    })
}

fn is_page(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.contains("html"))
}

/// Files with such names are pages; to ask whether they are directories would cost a request.
fn is_name_of_page(path: &str) -> bool {
    [".html", ".htm"].iter().any(|end| path.ends_with(end))
}

/// Whether the answer came, after redirects, from a URL that ends in a slash.
fn is_directory(response: &Response) -> bool {
    response.url().path().ends_with('/')
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Extents of compressed bytes are not extents of the object.
fn refuse_encoding(headers: &HeaderMap, url: &Url) -> Result<()> {
    match headers.get(CONTENT_ENCODING).and_then(|value| value.to_str().ok()) {
        None | Some("" | "identity") => Ok(()),
        Some(encoding) => Err(Error::new(
            ErrorKind::Permanent,
            format!(
                "{}: the server sends Content-Encoding {encoding:.QUOTE_CHARS_MAX$} although identity was requested; \
                 turn compression off",
                client::shown(url)
            ),
        )),
    }
}
