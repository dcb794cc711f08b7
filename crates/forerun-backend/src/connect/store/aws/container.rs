//! Credentials of a service beside a container, with a token from the environment.

use std::fmt;

use async_trait::async_trait;
use object_store::client::{HttpClient, HttpRequestBody};
use reqwest::header::{AUTHORIZATION, HeaderValue};

use super::renewal::{Obtained, Origin};
use crate::connect::store::credentials::{ask, request_to};
use crate::{Error, ErrorKind, Result};

/// The service of `AWS_CONTAINER_CREDENTIALS_FULL_URI` without a token file, which object_store
/// requires.
pub(super) struct Container {
    pub(super) uri: String,
    pub(super) token: Option<String>,
    /// Its name in messages.
    pub(super) name: String,
    pub(super) client: HttpClient,
}

#[async_trait]
impl Origin for Container {
    async fn obtain(&self) -> Result<Obtained> {
        let mut request = request_to(&self.uri, HttpRequestBody::empty())?;
        if let Some(token) = &self.token {
            let token = HeaderValue::from_str(token).map_err(|_| {
                let message = "AWS_CONTAINER_AUTHORIZATION_TOKEN has a character that cannot be sent";
                Error::new(ErrorKind::Invalid, message)
            })?;
            request.headers_mut().insert(AUTHORIZATION, token);
        }
        Obtained::of_json(&self.name, &ask(&self.client, request, &self.name).await?, "Token")
    }
}

impl fmt::Debug for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
