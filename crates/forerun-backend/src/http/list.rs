//! Listing a directory of a web server.

use futures::{StreamExt, TryStreamExt};
use reqwest::Method;
use reqwest::header::HeaderMap;
use url::Url;

use super::describe::{is_directory, is_page};
use super::listing::{self, Link};
use super::{HttpBackend, client};
use crate::bounds::{self, URL_BYTES_MAX};
use crate::{Backend, Entry, Error, ErrorKind, Kind, Result, apart, path};

/// Concurrent requests about the files of a listing.
const STATS_IN_FLIGHT_MAX: usize = 16;

impl HttpBackend {
    pub(super) async fn list_page(&self, path: &str) -> Result<Vec<Entry>> {
        let url = self.address(path, true)?;
        match self.page(path, &url).await {
            // A missing `file/` does not mean that `file` is missing.
            Err(error) if error.kind == ErrorKind::NotFound && !path.is_empty() => {
                match self.stat(path).await?.kind {
                    Kind::Directory => Err(error),
                    Kind::File | Kind::Symlink => Err(Error::not_a_directory(client::shown(&url))),
                }
            }
            links => self.entries(path, links?).await,
        }
    }

    async fn page(&self, path: &str, url: &Url) -> Result<Vec<Link>> {
        let response = client::send(&self.client, Method::GET, url, HeaderMap::new()).await?;
        if !response.status().is_success() {
            return Err(client::status_error(&response, url));
        }
        if !is_directory(&response) {
            return Err(Error::not_a_directory(client::shown(url)));
        }
        if !is_page(&response) {
            let what = if path.is_empty() { "the answer" } else { path };
            let message =
                format!("{}: {what} cannot be listed, since it is not a page of links", client::shown(url));
            return Err(Error::new(ErrorKind::NotADirectory, message));
        }
        let base = response.url().clone();
        if base.as_str().len() > URL_BYTES_MAX {
            let message = format!(
                "{}: the listing's own address is longer than {URL_BYTES_MAX} bytes",
                client::shown(url)
            );
            return Err(Error::new(ErrorKind::Permanent, message));
        }
        let page = bounds::page(response.bytes_stream()).await;
        let page = page.map_err(|error| error.about(&client::shown(url)))?;
        // Long pages take long to parse; other tasks run meanwhile.
        Ok(apart::run(move || listing::links(&page, &base)).await)
    }

    /// Asks for each file's size and version, which a page of links lacks. Each file is retried
    /// alone: of hundreds of requests some fail, and a new listing would only meet the next
    /// failure.
    async fn entries(&self, directory: &str, links: Vec<Link>) -> Result<Vec<Entry>> {
        // The server has answered the page, so these requests need not wait for a probe.
        self.retries.answered();
        let entries = futures::stream::iter(links).map(|link| async move {
            let path = path::join(directory, &link.name);
            if link.directory {
                return Ok(Some(Entry::directory(path)));
            }
            match self.retries.repeat(|| self.stat(&path)).await {
                Ok(entry) => Ok(Some(entry)),
                Err(error) if error.is_transient() => Err(error),
                Err(error) => {
                    tracing::warn!(
                        target: "forerun::store",
                        %error, "skipped a file that is listed but cannot be read"
                    );
                    Ok(None)
                }
            }
        });
        entries.buffered(STATS_IN_FLIGHT_MAX).try_filter_map(|entry| async { Ok(entry) }).try_collect().await
    }
}
