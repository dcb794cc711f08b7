//! The clients that may read: those that have a key.

use std::sync::Arc;

use s3s::auth::{S3Auth, SecretKey};
use s3s::{S3Result, s3_error};

use crate::http::Credentials;

/// The clients that may read. Those without a signature are refused.
pub(super) struct Readers {
    credentials: Arc<Credentials>,
}

impl Readers {
    pub(super) fn new(credentials: &Arc<Credentials>) -> Readers {
        Readers { credentials: Arc::clone(credentials) }
    }
}

#[async_trait::async_trait]
impl S3Auth for Readers {
    async fn get_secret_key(&self, access_key: &str) -> S3Result<SecretKey> {
        self.credentials.secret_of(access_key).ok_or_else(|| s3_error!(InvalidAccessKeyId))
    }
}
