//! A web server.

mod answered_range;
mod body;
mod client;
mod describe;
mod list;
mod listing;
mod validator;

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use object_store::client::HttpClient;
use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderValue, InvalidHeaderValue, RANGE};
use url::Url;
use validator::State;

pub(crate) use answered_range::content_range;
pub(crate) use client::{IDLE_TIMEOUT, client, client_error, retry_after};
use describe::Description;

use crate::tries::Retries;
use crate::{Backend, ByteStream, Entry, Error, ErrorKind, Result, RetryOptions, Version, path};

/// The files below a URL of a web server, or one file.
///
/// A path is a directory if the server redirects it to `path/` or answers there. Its entries come
/// from the page of links that web servers (nginx, Apache, Python's `http.server`, ...) make.
///
/// An object's version is its strong ETag, or its weak ETag, or its modification time and size.
/// Without any of these the version is the size alone, and a change that keeps the size is missed.
/// A server that redirects to mirrors must send the same ETags from all of them.
#[derive(Clone, Debug)]
pub struct HttpBackend {
    client: HttpClient,
    root: Url,
    /// Whether `root` is the only object, at every path.
    single: bool,
    /// Retries for the files of a listing.
    retries: Arc<Retries>,
}

impl HttpBackend {
    /// The files below `root`, which is a directory.
    ///
    /// # Errors
    /// [`ErrorKind::Permanent`] if no client can be made, for example without certificates.
    pub fn directory(root: Url) -> Result<HttpBackend> {
        Ok(HttpBackend::directory_by(client::client()?, root, Retries::new(RetryOptions::default())))
    }

    /// As [`HttpBackend::directory`], by `client`, with `retries` for the files of a listing.
    pub(crate) fn directory_by(client: HttpClient, mut root: Url, retries: Arc<Retries>) -> HttpBackend {
        if let Ok(mut segments) = root.path_segments_mut() {
            segments.pop_if_empty().push("");
        }
        HttpBackend { client, root, single: false, retries }
    }

    /// The one file `url`, at every path, by `client`; for [`Only`](crate::layer::Only).
    pub(crate) fn object_by(client: HttpClient, url: Url, retries: Arc<Retries>) -> HttpBackend {
        HttpBackend { client, root: url, single: true, retries }
    }

    /// The name of the one file `url`: the last segment of its path, decoded.
    pub(crate) fn name_of(url: &Url) -> String {
        let last = url.path_segments().and_then(|mut segments| segments.next_back()).unwrap_or("");
        let name = String::from_utf8_lossy(&listing::decode(last)).replace(['/', '\0'], "_");
        if path::is_name(&name) { name } else { "object".to_owned() }
    }

    /// The URL of `path`, with a trailing slash for a directory.
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
}

#[async_trait]
impl Backend for HttpBackend {
    fn url(&self) -> String {
        client::shown(&self.root)
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        let is_root = path.is_empty() && !self.single;
        let url = self.address(path, is_root)?;
        let found = match self.describe(&url).await {
            // Some servers do not redirect a directory without its slash.
            Err(error) if error.kind == ErrorKind::NotFound && !is_root && !self.single => {
                let directory = self.describe(&self.address(path, true)?).await.map_err(|_| error)?;
                Description { directory: true, ..directory }
            }
            // Some servers answer there with the listing itself.
            Ok(found) if found.is_page && !is_root && !is_name_of_page(path) => {
                match self.describe(&self.address(path, true)?).await {
                    Ok(directory) if directory.is_page => Description { directory: true, ..directory },
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
        // With an unknown version the request must still find out whether anything is there.
        let headers = part(state.as_ref().unwrap_or(&State::unknown()), &extent)?;
        let response = client::send(&self.client, Method::GET, &url, headers).await?;
        let len = answered_range::check(&response, &url, state.as_ref(), &extent)?;
        Ok(body::stream(response, url, len))
    }
}

/// The headers of a request for `extent` of an object in `state`.
fn part(state: &State, extent: &Range<u64>) -> Result<HeaderMap> {
    let range = format!("bytes={}-{}", extent.start, extent.end - 1);
    let pairs = [(RANGE, range.as_str())].into_iter().chain(state.condition());
    pairs
        .map(|(name, value)| Ok((name, HeaderValue::from_str(value)?)))
        .collect::<Result<HeaderMap, InvalidHeaderValue>>()
        .map_err(|error| Error::new(ErrorKind::Invalid, format!("a version cannot be asked for: {error}")))
}

/// Files with such names are pages; asking whether they are directories would cost a request.
fn is_name_of_page(path: &str) -> bool {
    [".html", ".htm"].iter().any(|end| path.ends_with(end))
}
