//! The HTTP client that object stores are asked through.

use std::borrow::Cow;
use std::fmt;

use async_trait::async_trait;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};

use super::keys;

/// Hands our own client to object stores: the same connections and timeouts as
/// for web servers, answers that are no success kept as [`Refused`] instead of
/// being flattened into text, and listings rid of keys that cannot be paths.
#[derive(Debug)]
pub(crate) struct Connector {
    client: reqwest::Client,
}

/// An answer that is no success.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    pub(super) status: u16,
    /// What the store says, in XML.
    pub(super) body: String,
}

impl Connector {
    /// # Errors
    /// If no client can be made, for example for want of certificates.
    pub(crate) fn new() -> crate::Result<Connector> {
        Ok(Connector { client: crate::http::client()? })
    }
}

impl HttpConnector for Connector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Strict { client: self.client.clone() }))
    }
}

#[derive(Debug)]
struct Strict {
    client: reqwest::Client,
}

#[async_trait]
impl HttpService for Strict {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let query = request.uri().query().unwrap_or("");
        let is_listing = query.split('&').any(|pair| pair == "list-type=2" || pair == "comp=list");
        let response = self.client.call(request).await?;
        if response.status().is_success() {
            return if is_listing { nameable(response).await } else { Ok(response) };
        }
        let status = response.status().as_u16();
        let body = response.into_body().bytes().await?;
        let body = String::from_utf8_lossy(&body).into_owned();
        Err(HttpError::new(HttpErrorKind::Unknown, Refused { status, body }))
    }
}

/// The answer to a listing, without the keys that cannot be paths.
async fn nameable(response: HttpResponse) -> Result<HttpResponse, HttpError> {
    let (parts, body) = response.into_parts();
    let page = body.bytes().await?;
    let kept = match std::str::from_utf8(&page) {
        Ok(text) => match keys::without_unnameable(text) {
            Cow::Owned(fewer) => fewer.into(),
            Cow::Borrowed(_) => page,
        },
        Err(_) => page,
    };
    Ok(HttpResponse::from_parts(parts, kept.into()))
}

impl Refused {
    /// The text of the first XML element `name`.
    pub(super) fn element(&self, name: &str) -> Option<&str> {
        let (_, rest) = self.body.split_once(&format!("<{name}>"))?;
        let (text, _) = rest.split_once("</")?;
        Some(text)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the store answered {}", self.status)?;
        match (self.element("Code"), self.element("Message")) {
            (Some(code), Some(message)) => write!(f, " {code}: {message}"),
            (Some(code), None) => write!(f, " {code}"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Refused {}
