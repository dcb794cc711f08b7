//! Credentials of a source, and failures to get them, which are not the store's.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use object_store::client::{HttpClient, HttpRequest, HttpRequestBody};
use object_store::{CredentialProvider, Result as StoreResult};

use crate::bounds;
use crate::object::{NoCredentials, of_party};
use crate::tries::Retries;
use crate::{Error, ErrorKind, Result, RetryOptions};

/// The longest time for getting credentials. A program that gives them may ask its user.
const CREDENTIALS_TIME_MAX: Duration = Duration::from_secs(60);

/// The credentials of one source, with its name for messages.
pub(super) struct NamedCredentials<C> {
    provider: Arc<dyn CredentialProvider<Credential = C>>,
    name: String,
    /// The end of a failure's message.
    tried: String,
}

impl<C> NamedCredentials<C> {
    /// Wraps `provider`, which messages call `name`. The sources `tried` before it have no
    /// credentials.
    pub(super) fn new(
        provider: Arc<dyn CredentialProvider<Credential = C>>,
        name: String,
        tried: &[String],
    ) -> NamedCredentials<C> {
        let tried = match tried {
            [] => String::new(),
            tried => format!("; tried before, in this order: {}", tried.join(", ")),
        };
        NamedCredentials { provider, name, tried }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Gets credentials for `url` now: a failure here has a clearer message than one of the first
    /// request.
    pub(super) async fn check(&self, url: &str, retry: &RetryOptions) -> Result<()> {
        let get = || async { self.get().await.map(drop) };
        let checked = Retries::new(retry.at_first()).repeat(get).await;
        checked.map_err(|error| Error { message: format!("{url}: {error}"), ..error })
    }

    async fn get(&self) -> Result<Arc<C>> {
        let got = tokio::time::timeout(CREDENTIALS_TIME_MAX, self.provider.get_credential()).await;
        let error = match got {
            Ok(Ok(credential)) => return Ok(credential),
            Ok(Err(error)) => of_party(&error, "it"),
            Err(_) => {
                let message = format!("no answer within {} s", CREDENTIALS_TIME_MAX.as_secs());
                Error::new(ErrorKind::Transient, message)
            }
        };
        Err(Error { message: format!("{} gave no credentials: {error}{}", self.name, self.tried), ..error })
    }
}

#[async_trait]
impl<C: 'static> CredentialProvider for NamedCredentials<C> {
    type Credential = C;

    async fn get_credential(&self) -> StoreResult<Arc<C>> {
        self.get().await.map_err(|error| NoCredentials(error).into())
    }
}

impl<C> fmt::Debug for NamedCredentials<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A request for `address`.
pub(super) fn request_to(address: &str, body: HttpRequestBody) -> Result<HttpRequest> {
    let mut request = HttpRequest::new(body);
    *request.uri_mut() = address.parse().map_err(|error| {
        let shown = crate::without_secrets(address);
        Error::new(ErrorKind::Invalid, format!("{shown:?} is not a URL: {error}"))
    })?;
    Ok(request)
}

/// Sends `request` to `party` and returns the answer.
pub(super) async fn ask(client: &HttpClient, request: HttpRequest, party: &str) -> Result<String> {
    let response = client.execute(request).await.map_err(|error| of_party(&error, party))?;
    let page = bounds::page(response.into_body().bytes_stream())
        .await
        .map_err(|_| Error::new(ErrorKind::Transient, format!("{party} did not send the whole answer")))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
