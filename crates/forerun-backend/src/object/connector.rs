//! The HTTP client for object stores.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use reqwest::header::{CONTENT_RANGE, HeaderValue, RANGE};

use super::keys;
use crate::apart;
use crate::bounds::{self, QUOTE_CHARS_MAX};

/// Gives object stores this crate's HTTP client: the same connections and timeouts as for web
/// servers.
///
/// Answers other than success are kept as [`Refused`], and listings lose entries that cannot be
/// shown. No redirect is followed: a request signed for one host is invalid at another.
#[derive(Clone, Debug)]
pub(crate) struct Connector {
    client: HttpClient,
}

/// An answer other than success.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    pub(super) status: u16,
    /// The store's answer, in XML.
    pub(super) body: String,
    pub(super) retry_after: Option<Duration>,
}

/// Marks the answer to a listing from which entries were removed.
#[derive(Clone, Debug)]
pub(super) struct LeftOut;

impl Connector {
    pub(crate) fn new(client: HttpClient) -> Connector {
        Connector { client }
    }

    /// The client for stores.
    pub(crate) fn client(&self) -> HttpClient {
        HttpClient::new(Strict { client: self.client.clone() })
    }
}

impl HttpConnector for Connector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(self.client())
    }
}

#[derive(Debug)]
struct Strict {
    client: HttpClient,
}

#[async_trait]
impl HttpService for Strict {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let query = request.uri().query().unwrap_or("");
        let is_listing = query.split('&').any(|pair| pair == "list-type=2" || pair == "comp=list");
        let asked = request.headers().get(RANGE).and_then(asked_extent);
        let response = self.client.execute(request).await?;
        if response.status().is_success() {
            return match asked {
                _ if is_listing => showable(response).await,
                Some(asked) => Ok(named_as_asked(response, &asked)),
                None => Ok(response),
            };
        }
        let status = response.status().as_u16();
        let retry_after = crate::http::retry_after(response.headers());
        let body = bounds::refusal(response.into_body().bytes_stream()).await;
        let body = String::from_utf8_lossy(&body).into_owned();
        Err(HttpError::new(HttpErrorKind::Unknown, Refused { status, body, retry_after }))
    }
}

/// The answer to a listing, without the entries that cannot be shown.
async fn showable(response: HttpResponse) -> Result<HttpResponse, HttpError> {
    let (mut parts, body) = response.into_parts();
    let page = bounds::page(body.bytes_stream()).await;
    let page = page.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?;
    // Long pages take long to parse; other tasks run meanwhile.
    let kept = apart::run(move || match str::from_utf8(&page) {
        Ok(text) => keys::showable(text),
        Err(_) => (page, false),
    });
    let (kept, has_left_out) = kept.await;
    if has_left_out {
        parts.extensions.insert(LeftOut);
    }
    Ok(HttpResponse::from_parts(parts, Bytes::from(kept).into()))
}

/// The extent in a request's `Range: bytes=first-last`.
fn asked_extent(range: &HeaderValue) -> Option<Range<u64>> {
    let (first, last) = range.to_str().ok()?.strip_prefix("bytes=")?.split_once('-')?;
    Some(first.parse().ok()?..last.parse::<u64>().ok()?.checked_add(1)?)
}

/// Labels `response` as all of the extent `asked`, of which it may be the beginning: the client
/// refuses other labels. The body's reader sees that it ends early, and asks for the rest.
fn named_as_asked(mut response: HttpResponse, asked: &Range<u64>) -> HttpResponse {
    let sent = crate::http::content_range(response.headers());
    if let Some(sent) = sent.filter(|sent| sent.extent.start == asked.start && sent.extent.end <= asked.end)
        && let Some(total) = sent.total.filter(|total| *total >= asked.end)
        && let Ok(named) = format!("bytes {}-{}/{total}", asked.start, asked.end - 1).parse()
    {
        response.headers_mut().insert(CONTENT_RANGE, named);
    }
    response
}

impl Refused {
    /// The text of the first XML element `name`.
    pub(super) fn element(&self, name: &str) -> Option<&str> {
        element(&self.body, name)
    }
}

/// The text of the first element `name` of `xml`.
pub(crate) fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once("</")?;
    Some(text)
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "answered {}", self.status)?;
        match (self.element("Code"), self.element("Message")) {
            (Some(code), Some(message)) => {
                write!(f, " {code:.QUOTE_CHARS_MAX$}: {message:.QUOTE_CHARS_MAX$}")
            }
            (Some(code), None) => write!(f, " {code:.QUOTE_CHARS_MAX$}"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Refused {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_quoted_as_far_as_it_fits_into_a_message() {
        let said = |text: String| {
            let body = format!("<Error><Code>SlowDown</Code><Message>{text}</Message></Error>");
            Refused { status: 403, body, retry_after: None }.to_string()
        };
        assert_eq!(said("wait".to_owned()), "answered 403 SlowDown: wait");
        assert!(said("ä".repeat(1 << 15)).chars().count() < QUOTE_CHARS_MAX + 100);
    }
}
