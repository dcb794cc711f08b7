//! How to connect.

use std::path::PathBuf;
use std::time::Duration;

use super::Environment;
use crate::http::{self, IDLE_TIMEOUT};
use crate::{Error, ErrorKind, HttpClient, Result};

/// How to connect. What is not said here comes from the environment variables
/// and files that each kind of storage usually reads.
#[derive(Clone, Debug, Default)]
pub struct ConnectOptions {
    /// The URL of an S3, GCS or Azure service other than the provider's own;
    /// plain `http://` is allowed only here.
    pub endpoint: Option<String>,
    /// Whether to ask without credentials, as public buckets allow.
    pub anonymous: bool,
    /// The region of an S3 bucket.
    pub region: Option<String>,
    /// The profile of the AWS configuration files; `AWS_PROFILE` or `default`
    /// otherwise.
    pub profile: Option<String>,
    /// A file of headers for a web server, such as `Authorization: Bearer TOKEN`.
    pub header_file: Option<PathBuf>,
    /// Where credentials come from.
    pub environment: Environment,
    /// When to try again.
    pub retry: RetryOptions,
    /// By what HTTP requests are sent, rather than by a client of our own: one that follows no
    /// redirect, and fails a request whose peer is silent for 10 s.
    pub http: Option<HttpClient>,
}

/// When to try a request again that met a transient error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryOptions {
    /// How many times one request is tried in all at most; at least once.
    pub attempts: u32,
    /// The wait before the second try; it doubles with each further one.
    pub backoff_first: Duration,
    /// The longest wait between two tries.
    pub backoff_max: Duration,
    /// No try starts later than this after the request's first one, or after some
    /// kilobytes that arrived.
    pub deadline: Duration,
}

/// How often it is tried to connect: who has misspelt a URL should not wait long to hear of it.
const CONNECT_TRIES: u32 = 6;

impl Default for RetryOptions {
    /// For 30 s, 100 ms to 5 s apart; three times where the connection
    /// stays silent, which takes 10 s to notice.
    fn default() -> RetryOptions {
        RetryOptions {
            attempts: u32::MAX,
            backoff_first: Duration::from_millis(100),
            backoff_max: Duration::from_secs(5),
            // Longer than a silent connection, or none would ever be tried again.
            deadline: 3 * IDLE_TIMEOUT,
        }
    }
}

impl RetryOptions {
    /// The same for the first requests of all.
    pub(super) fn at_first(&self) -> RetryOptions {
        RetryOptions { attempts: self.attempts.min(CONNECT_TRIES), ..self.clone() }
    }
}

impl ConnectOptions {
    /// By what HTTP requests are sent.
    ///
    /// # Errors
    /// If no client can be made, for example for want of certificates.
    pub(super) fn client(&self) -> Result<HttpClient> {
        self.http.clone().map_or_else(http::client, Ok)
    }

    /// Refuses what only object stores understand, rather than ignoring it.
    pub(super) fn refuse_remote_options(&self, url: &str) -> Result<()> {
        let given = [
            ("an endpoint", self.endpoint.is_some()),
            ("anonymous access", self.anonymous),
            ("a region", self.region.is_some()),
            ("a profile", self.profile.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((what, _)) => {
                let url = crate::without_secrets(url);
                let message = format!("{what} was given, but {url} is not an object store; leave it out");
                Err(Error::new(ErrorKind::Invalid, message))
            }
        }
    }

    /// Refuses headers where no web server is.
    pub(super) fn refuse_headers(&self, url: &str) -> Result<()> {
        if self.header_file.is_none() {
            return Ok(());
        }
        let url = crate::without_secrets(url);
        let message = format!("a file of headers was given, but {url} is not a web server; leave it out");
        Err(Error::new(ErrorKind::Invalid, message))
    }
}
