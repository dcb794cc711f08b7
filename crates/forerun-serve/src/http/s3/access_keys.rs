//! The secret key that belongs to an access key, with which `s3s` checks the signature.

use std::sync::Arc;

use s3s::auth::{S3Auth, SecretKey};
use s3s::{S3Result, s3_error};

use crate::http::Credentials;

/// Those of the clients that may read. A request without a signature is refused.
pub(super) struct AccessKeys {
    credentials: Arc<Credentials>,
}

impl AccessKeys {
    pub(super) fn new(credentials: &Arc<Credentials>) -> AccessKeys {
        AccessKeys { credentials: Arc::clone(credentials) }
    }
}

#[async_trait::async_trait]
impl S3Auth for AccessKeys {
    async fn get_secret_key(&self, access_key: &str) -> S3Result<SecretKey> {
        self.credentials.secret_of(access_key).ok_or_else(|| s3_error!(InvalidAccessKeyId))
    }
}
