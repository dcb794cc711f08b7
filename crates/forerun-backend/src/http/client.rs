//! The HTTP client, and the classes of its failures.

use std::error::Error as StdError;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use futures::stream::BoxStream;
use object_store::client::{
    HttpClient, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse,
};
use reqwest::header::{ACCEPT_ENCODING, AUTHORIZATION, DATE, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{ClientBuilder, Method, StatusCode};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::listing::decode;
use crate::bounds::{REDIRECTS_MAX, REDIRECTS_TIME_MAX, RETRY_AFTER_MAX};
use crate::{Error, ErrorKind, Result};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The silence after which a connection counts as broken. Three of them fit into the deadline of
/// [`RetryOptions`](crate::RetryOptions).
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

/// A client with a connection for each request in flight: concurrent extents must not share one
/// connection's throughput. It follows no redirect. [`send`] does, and object stores refuse them.
pub(crate) fn client() -> Result<HttpClient> {
    crate::tls::install();
    // Without certificates on this machine, servers with http:// can be used, and no other is trusted.
    let client = builder().build().or_else(|_| builder().tls_certs_only([]).build());
    client.map(HttpClient::new).map_err(|error| {
        let message = format!("the HTTP client does not start: {}", innermost(&error));
        Error::new(ErrorKind::Permanent, message).with_source(error)
    })
}

fn builder() -> ClientBuilder {
    let identity = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))]);
    reqwest::Client::builder()
        .user_agent(concat!("forerun/", env!("CARGO_PKG_VERSION")))
        .default_headers(identity)
        .redirect(Policy::none())
        .http1_only()
        .tcp_nodelay(true)
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(IDLE_TIMEOUT)
}

/// An answer, and its URL after redirects.
pub(super) struct Response {
    url: Url,
    answer: HttpResponse,
}

impl Response {
    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    pub(super) fn status(&self) -> StatusCode {
        self.answer.status()
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        self.answer.headers()
    }

    pub(super) fn bytes_stream(self) -> BoxStream<'static, Result<Bytes, HttpError>> {
        self.answer.into_body().bytes_stream()
    }
}

/// Requests `url`, follows redirects, and waits for the head of the answer. The client bounds the
/// time of each answer.
pub(super) async fn send(
    client: &HttpClient,
    method: Method,
    url: &Url,
    headers: HeaderMap,
) -> Result<Response> {
    let deadline = Instant::now() + REDIRECTS_TIME_MAX;
    let mut at = url.clone();
    for _ in 0..=REDIRECTS_MAX {
        let request = request(&method, &at, &headers)?;
        let Ok(answer) = timeout_at(deadline, client.execute(request)).await else {
            let seconds = REDIRECTS_TIME_MAX.as_secs();
            let message = format!("{}: the server's redirects led to no answer in {seconds} s", shown(url));
            return Err(Error::new(ErrorKind::Transient, message));
        };
        let answer = answer.map_err(|error| client_error(&error, &shown(url)))?;
        match redirected(&at, &answer) {
            Some(next) => at = next,
            None => return Ok(Response { url: at, answer }),
        }
    }
    let message = format!("{}: the server redirects more than {REDIRECTS_MAX} times", shown(url));
    Err(Error::new(ErrorKind::Permanent, message))
}

fn request(method: &Method, url: &Url, headers: &HeaderMap) -> Result<HttpRequest> {
    let mut bare = url.clone();
    // Neither call fails for a URL with a host, and all have one.
    let _ = (bare.set_username(""), bare.set_password(None));
    bare.set_fragment(None);
    let mut request = HttpRequest::new(HttpRequestBody::empty());
    *request.method_mut() = method.clone();
    *request.uri_mut() = bare.as_str().parse().map_err(|error| {
        Error::new(ErrorKind::Invalid, format!("{} cannot be requested: {error}", shown(url)))
    })?;
    *request.headers_mut() = headers.clone();
    if let Some(credentials) = credentials(url) {
        request.headers_mut().insert(AUTHORIZATION, credentials);
    }
    Ok(request)
}

/// The header for the user and password in `url`.
fn credentials(url: &Url) -> Option<HeaderValue> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let pair = [decode(url.username()), decode(url.password().unwrap_or(""))].join(&b':');
    let mut value = HeaderValue::try_from(format!("Basic {}", BASE64_STANDARD.encode(pair))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// The target of a redirect in the `answer` to a request for `from`. It keeps user and password
/// only for the same server.
fn redirected(from: &Url, answer: &HttpResponse) -> Option<Url> {
    if !matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let mut to = from.join(answer.headers().get(LOCATION)?.to_str().ok()?).ok()?;
    if !matches!(to.scheme(), "http" | "https") {
        return None;
    }
    let is_same = from.origin() == to.origin();
    let (user, password) = if is_same { (from.username(), from.password()) } else { ("", None) };
    (to.set_username(user), to.set_password(password)).0.ok()?;
    Some(to)
}

/// The error for a failure without an answer.
pub(crate) fn client_error(error: &HttpError, url: &str) -> Error {
    let causes = innermost(error);
    let is_connect = error.source().and_then(|source| source.downcast_ref::<reqwest::Error>());
    let (kind, advice) = if is_certificate(error) {
        (
            ErrorKind::Permanent,
            "; its certificate is not trusted: install the package ca-certificates, or name a file of \
             certificates in SSL_CERT_FILE",
        )
    } else if error.kind() == HttpErrorKind::Connect || is_connect.is_some_and(reqwest::Error::is_connect) {
        (ErrorKind::Unreachable, "; check the host and the port, and whether the server runs")
    } else {
        (ErrorKind::Transient, "")
    };
    Error::new(kind, format!("{url}: {causes}{advice}"))
}

/// The error for an answer other than the object.
pub(super) fn status_error(response: &Response, url: &Url) -> Error {
    let status = response.status();
    let (kind, advice) = match status.as_u16() {
        404 | 410 => (ErrorKind::NotFound, ""),
        401 | 403 | 407 if url.password().is_some() || !url.username().is_empty() => {
            (ErrorKind::Denied, "; check the user and the password in the URL or in ~/.netrc")
        }
        401 | 403 | 407 => (
            ErrorKind::Denied,
            "; put the user and the password into ~/.netrc, or into the URL as user:password@host, or a valid \
             token into --header-file",
        ),
        429 | 503 => (ErrorKind::Busy, ""),
        408 | 425 | 500 | 502 | 504 => (ErrorKind::Transient, ""),
        412 | 416 => (ErrorKind::Changed, "; it has changed: open it again"),
        _ => (ErrorKind::Permanent, ""),
    };
    let error = Error::new(kind, format!("{}: the server answered {status}{advice}", shown(url)));
    Error { retry_after: retry_after(response.headers()), ..error }
}

/// The wait that the server asks for before the next request, up to [`RETRY_AFTER_MAX`].
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let after = text(RETRY_AFTER)?;
    let wait = match after.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let date = httpdate::parse_http_date(after).ok()?;
            // The server's clock, if it is sent, differs from this machine's.
            let now = text(DATE).and_then(|date| httpdate::parse_http_date(date).ok());
            date.duration_since(now.unwrap_or_else(SystemTime::now)).unwrap_or_default()
        }
    };
    Some(wait.min(RETRY_AFTER_MAX))
}

/// `url` for messages.
pub(super) fn shown(url: &Url) -> String {
    crate::without_secrets(url.as_str())
}

fn is_certificate(error: &HttpError) -> bool {
    let mut next: Option<&(dyn StdError + 'static)> = error.source();
    while let Some(cause) = next {
        if let Some(rustls::Error::InvalidCertificate(_)) = cause.downcast_ref() {
            return true;
        }
        // The source of an I/O error skips the error inside it.
        let inside = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = inside.map(|inside| inside as &(dyn StdError + 'static)).or_else(|| cause.source());
    }
    false
}

/// The innermost cause says most; reqwest's own text carries the URL.
fn innermost(error: &(dyn StdError + 'static)) -> String {
    let mut innermost = error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    match innermost.downcast_ref::<reqwest::Error>() {
        Some(error) if error.is_timeout() => "no answer in time".to_owned(),
        Some(_) => "the request failed".to_owned(),
        None => innermost.to_string(),
    }
}

#[cfg(test)]
mod tests;
