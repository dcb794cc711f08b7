//! Connecting to a web server.

use std::sync::Arc;

use reqwest::header::AUTHORIZATION;
use url::Url;

use super::headers::{HeaderFile, WithHeaders};
use super::{ConnectOptions, Connected, RetryOptions, netrc, single};
use crate::http::HttpBackend;
use crate::layer::Retry;
use crate::tries::Retries;
use crate::{Backend, Entry, HttpClient, Kind, Result, apart};

/// Connects to a directory if `url` ends in a slash or redirects to a URL that does; otherwise to
/// one object.
pub(super) async fn connect_web(url: Url, options: &ConnectOptions) -> Result<Connected> {
    let retry = &options.retry;
    let (client, url) = with_credentials(url, options).await?;
    if url.path().ends_with('/') {
        return directory(client, url, retry).await;
    }
    let name = HttpBackend::name_of(&url);
    let retries = Retries::new(retry.clone());
    let object = HttpBackend::object_by(client.clone(), url.clone(), Arc::clone(&retries));
    let object: Arc<dyn Backend> = Arc::new(object);
    let first = Retry::new(object.clone(), retry.at_first());
    let entry = first.stat(&name).await?;
    if entry.kind == Kind::Directory {
        return directory(client, url, retry).await;
    }
    verify_ranges(&first, &entry).await?;
    Ok(single(Arc::new(Retry::sharing(object, retries)), name.clone(), name))
}

/// The client with the headers of a file, and `url` with user and password, if there are any.
async fn with_credentials(mut url: Url, options: &ConnectOptions) -> Result<(HttpClient, Url)> {
    let mut client = options.client()?;
    let mut has_token = false;
    if let Some(path) = &options.header_file {
        let file = HeaderFile::open(path).await?;
        has_token = file.has(&AUTHORIZATION);
        client = WithHeaders::client(client, &url, file);
    }
    if !has_token {
        let environment = options.environment.clone();
        url = apart::run(move || netrc::complete(&mut url, &environment).map(|()| url)).await?;
    }
    Ok((client, url))
}

async fn directory(client: HttpClient, url: Url, retry: &RetryOptions) -> Result<Connected> {
    let retries = Retries::new(retry.clone());
    let directory: Arc<dyn Backend> = Arc::new(HttpBackend::directory_by(client, url, Arc::clone(&retries)));
    Retry::new(directory.clone(), retry.at_first()).stat("").await?;
    let backend = Arc::new(Retry::sharing(directory, retries));
    Ok(Connected::to(backend))
}

/// Finds out now, not at the first read, that a server cannot send the end of an object alone.
async fn verify_ranges(backend: &dyn Backend, entry: &Entry) -> Result<()> {
    if entry.size > 1 {
        drop(backend.fetch(&entry.path, &entry.version, entry.size - 1..entry.size).await?);
    }
    Ok(())
}
