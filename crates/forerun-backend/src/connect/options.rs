//! Options for connecting.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::Environment;
use crate::http::{self, IDLE_TIMEOUT};
use crate::meter::Metered;
use crate::{Error, ErrorKind, HttpClient, Meter, Result};

/// Options for connecting. The environment variables and files of each kind of storage supply the
/// rest.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ConnectOptions {
    /// The URL of an S3, GCS or Azure service other than the provider's own. Plain `http://` is
    /// allowed only here.
    pub endpoint: Option<String>,
    /// Whether to ask without credentials, as public buckets allow.
    pub anonymous: bool,
    /// The region of an S3 bucket.
    pub region: Option<String>,
    /// The profile of the AWS configuration files; otherwise that of `AWS_PROFILE`, or `default`.
    pub profile: Option<String>,
    /// A file of headers for a web server, such as `Authorization: Bearer TOKEN`.
    pub header_file: Option<PathBuf>,
    /// Whether files of a directory are read past the page cache ([`FileBackend::with_direct`](crate::FileBackend::with_direct)).
    pub direct: bool,
    /// The variables that hold credentials.
    pub environment: Environment,
    /// Limits of retries.
    pub retry: RetryOptions,
    /// The client that sends HTTP requests. The default client follows no redirect, and fails a
    /// request whose peer is silent for 10 s.
    pub http: Option<HttpClient>,
    /// Counts the requests over HTTP.
    pub meter: Option<Arc<Meter>>,
}

/// Limits of retries after transient errors.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryOptions {
    /// The most tries of one request, the first included; at least 1.
    pub attempts: u32,
    /// The pause before the second try. It doubles with each further one.
    pub backoff_first: Duration,
    /// The longest pause between two tries.
    pub backoff_max: Duration,
    /// No try starts later than this after the first one, or after the last progress of some
    /// kilobytes.
    pub deadline: Duration,
}

/// The most tries of the first requests: a user who misspelt a URL should not wait long.
const CONNECT_TRIES: u32 = 6;

impl Default for RetryOptions {
    /// Tries for 30 s, 100 ms to 5 s apart. A silent connection takes 10 s to notice, so it allows
    /// three tries.
    fn default() -> RetryOptions {
        RetryOptions {
            attempts: u32::MAX,
            backoff_first: Duration::from_millis(100),
            backoff_max: Duration::from_secs(5),
            // Longer than the time to notice a silent connection: otherwise there would be no
            // second try.
            deadline: 3 * IDLE_TIMEOUT,
        }
    }
}

impl RetryOptions {
    /// These limits, for the first requests of all.
    pub(super) fn at_first(&self) -> RetryOptions {
        RetryOptions { attempts: self.attempts.min(CONNECT_TRIES), ..self.clone() }
    }
}

impl ConnectOptions {
    /// The client for HTTP requests: [`ConnectOptions::http`], or one of our own. The meter counts them.
    ///
    /// # Errors
    /// If no client can be made, for example without certificates.
    pub fn client(&self) -> Result<HttpClient> {
        let client = self.http.clone().map_or_else(http::client, Ok)?;
        Ok(match &self.meter {
            Some(meter) => Metered::client(client, Arc::clone(meter)),
            None => client,
        })
    }

    /// Refuses options for object stores, rather than ignoring them.
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

    /// Refuses direct reads where there are no files.
    pub(super) fn refuse_direct(&self, url: &str) -> Result<()> {
        if !self.direct {
            return Ok(());
        }
        let url = crate::without_secrets(url);
        let message = format!("direct reads were asked for, but {url} is not a directory; leave them out");
        Err(Error::new(ErrorKind::Invalid, message))
    }

    /// Refuses a header file where there is no web server.
    pub(super) fn refuse_headers(&self, url: &str) -> Result<()> {
        if self.header_file.is_none() {
            return Ok(());
        }
        let url = crate::without_secrets(url);
        let message = format!("a file of headers was given, but {url} is not a web server; leave it out");
        Err(Error::new(ErrorKind::Invalid, message))
    }
}
