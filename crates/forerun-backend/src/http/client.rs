//! The HTTP client, and what its failures mean.

use std::error::Error as StdError;
use std::time::Duration;

use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{RequestBuilder, Response, StatusCode};
use url::Url;

use crate::{Error, ErrorKind, Result};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a connection may be silent before it counts as broken. Three such
/// silences fit into the deadline of [`RetryOptions`](crate::RetryOptions).
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

/// Redirects of one request.
const REDIRECTS_MAX: usize = 10;

/// A client that opens a connection for each request in flight: extents that
/// are fetched at once must not share one connection's throughput.
pub(super) fn client() -> Result<reqwest::Client> {
    client_with(Policy::limited(REDIRECTS_MAX))
}

/// The same for who must not be redirected.
pub(crate) fn client_that_follows_none() -> Result<reqwest::Client> {
    client_with(Policy::none())
}

fn client_with(redirects: Policy) -> Result<reqwest::Client> {
    crate::tls::install();
    let identity = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))]);
    reqwest::Client::builder()
        .user_agent(concat!("forerun/", env!("CARGO_PKG_VERSION")))
        .default_headers(identity)
        .redirect(redirects)
        .http1_only()
        .tcp_nodelay(true)
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(IDLE_TIMEOUT)
        .build()
        .map_err(|error| {
            let message =
                format!("HTTPS cannot be used: {}; install the package ca-certificates", chain(&error));
            Error::new(ErrorKind::Permanent, message)
        })
}

/// Sends `request` and waits for the head of the answer.
pub(super) async fn send(request: RequestBuilder, url: &Url) -> Result<Response> {
    request.send().await.map_err(|error| client_error(&error, &shown(url)))
}

/// What a failure without an answer means.
pub(crate) fn client_error(error: &reqwest::Error, url: &str) -> Error {
    let causes = chain(error);
    let (kind, advice) = if is_certificate(error) {
        (
            ErrorKind::Permanent,
            "; its certificate is not trusted: name a file of further certificates in SSL_CERT_FILE",
        )
    } else if error.is_connect() {
        (ErrorKind::Unreachable, "; check the host and the port, and whether the server runs")
    } else if error.is_redirect() {
        (ErrorKind::Permanent, "; the server redirects too often")
    } else if error.is_builder() {
        (ErrorKind::Invalid, "")
    } else {
        (ErrorKind::Transient, "")
    };
    Error::new(kind, format!("{url}: {causes}{advice}"))
}

/// What an answer other than the object means.
pub(super) fn status_error(status: StatusCode, url: &Url) -> Error {
    let (kind, advice) = match status.as_u16() {
        404 | 410 => (ErrorKind::NotFound, ""),
        401 | 403 | 407 if url.password().is_some() || !url.username().is_empty() => {
            (ErrorKind::Denied, "; check the user and the password in the URL")
        }
        401 | 403 | 407 => {
            (ErrorKind::Denied, "; put the user and the password into the URL as user:password@host")
        }
        408 | 425 | 429 | 500 | 502 | 503 | 504 => (ErrorKind::Transient, ""),
        412 | 416 => (ErrorKind::Changed, "; it has changed: open it again"),
        _ => (ErrorKind::Permanent, ""),
    };
    Error::new(kind, format!("{}: the server answered {status}{advice}", shown(url)))
}

/// `url` as messages show it.
pub(super) fn shown(url: &Url) -> String {
    crate::without_secrets(url.as_str())
}

fn is_certificate(error: &reqwest::Error) -> bool {
    let mut next: Option<&(dyn StdError + 'static)> = error.source();
    while let Some(cause) = next {
        if let Some(rustls::Error::InvalidCertificate(_)) = cause.downcast_ref() {
            return true;
        }
        // An I/O error's source is that of the error inside it, which is passed over.
        let inside = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = inside.map(|inside| inside as &(dyn StdError + 'static)).or_else(|| cause.source());
    }
    false
}

/// The innermost cause says most; reqwest's own words carry the URL.
fn chain(error: &reqwest::Error) -> String {
    let mut innermost: &dyn StdError = error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    match error.source() {
        Some(_) => innermost.to_string(),
        None if error.is_timeout() => "no answer in time".to_owned(),
        None => "the request failed".to_owned(),
    }
}
