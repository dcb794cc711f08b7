//! Options with one choice made, so that options can be added.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::{ConnectOptions, Environment, RetryOptions};
use crate::{HttpClient, Meter};

/// The same with one choice made.
impl ConnectOptions {
    /// With [`ConnectOptions::endpoint`].
    #[must_use]
    pub fn with_endpoint(self, endpoint: impl Into<Option<String>>) -> ConnectOptions {
        ConnectOptions { endpoint: endpoint.into(), ..self }
    }

    /// With [`ConnectOptions::anonymous`].
    #[must_use]
    pub fn with_anonymous(self, anonymous: bool) -> ConnectOptions {
        ConnectOptions { anonymous, ..self }
    }

    /// With [`ConnectOptions::region`].
    #[must_use]
    pub fn with_region(self, region: impl Into<Option<String>>) -> ConnectOptions {
        ConnectOptions { region: region.into(), ..self }
    }

    /// With [`ConnectOptions::profile`].
    #[must_use]
    pub fn with_profile(self, profile: impl Into<Option<String>>) -> ConnectOptions {
        ConnectOptions { profile: profile.into(), ..self }
    }

    /// With [`ConnectOptions::header_file`].
    #[must_use]
    pub fn with_header_file(self, header_file: impl Into<Option<PathBuf>>) -> ConnectOptions {
        ConnectOptions { header_file: header_file.into(), ..self }
    }

    /// With [`ConnectOptions::direct`].
    #[must_use]
    pub fn with_direct(self, direct: bool) -> ConnectOptions {
        ConnectOptions { direct, ..self }
    }

    /// With [`ConnectOptions::environment`].
    #[must_use]
    pub fn with_environment(self, environment: Environment) -> ConnectOptions {
        ConnectOptions { environment, ..self }
    }

    /// With [`ConnectOptions::retry`].
    #[must_use]
    pub fn with_retry(self, retry: RetryOptions) -> ConnectOptions {
        ConnectOptions { retry, ..self }
    }

    /// With [`ConnectOptions::meter`].
    #[must_use]
    pub fn with_meter(self, meter: impl Into<Option<Arc<Meter>>>) -> ConnectOptions {
        ConnectOptions { meter: meter.into(), ..self }
    }

    /// With [`ConnectOptions::http`].
    #[must_use]
    pub fn with_http(self, http: impl Into<Option<HttpClient>>) -> ConnectOptions {
        ConnectOptions { http: http.into(), ..self }
    }
}

/// The same with one choice made.
impl RetryOptions {
    /// With [`RetryOptions::attempts`].
    #[must_use]
    pub fn with_attempts(self, attempts: u32) -> RetryOptions {
        RetryOptions { attempts, ..self }
    }

    /// With [`RetryOptions::backoff_first`].
    #[must_use]
    pub fn with_backoff_first(self, backoff_first: Duration) -> RetryOptions {
        RetryOptions { backoff_first, ..self }
    }

    /// With [`RetryOptions::backoff_max`].
    #[must_use]
    pub fn with_backoff_max(self, backoff_max: Duration) -> RetryOptions {
        RetryOptions { backoff_max, ..self }
    }

    /// With [`RetryOptions::deadline`].
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> RetryOptions {
        RetryOptions { deadline, ..self }
    }
}
