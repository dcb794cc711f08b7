//! The options that say how a store is asked: those of `forerun mount` and `forerun doctor`.

use std::path::PathBuf;
use std::time::Duration;

use forerun::RetryOptions;
use forerun_backend::ConnectOptions;

use crate::units::parse_duration;

/// How a store is asked.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SourceOptions {
    /// The server of the object store, if it is not the provider's own
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint: Option<String>,

    /// Send no credentials, as for public buckets
    #[arg(long)]
    pub(crate) anonymous: bool,

    /// The region of the bucket
    #[arg(long, value_name = "REGION")]
    pub(crate) region: Option<String>,

    /// The profile of ~/.aws to take credentials from
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<String>,

    /// Send the headers in FILE to the web server, such as `Authorization: Bearer TOKEN`
    ///
    /// FILE has a line `Name: value` for each header. A changed file is used from the next request on.
    /// No other server gets the headers. Users and passwords may also be in ~/.netrc;
    /// docs/credentials.md describes both.
    #[arg(long, value_name = "FILE")]
    pub(crate) header_file: Option<PathBuf>,

    /// Read the files of a directory past the kernel's page cache
    ///
    /// Then their bytes are in memory once, and the kernel reads nothing ahead of Forerun's own reads. A file system
    /// that cannot do this is read through the page cache, and the log says so.
    #[arg(long)]
    pub(crate) direct: bool,

    /// How long a request is tried again, as in 30s, if the server fails or cannot be reached
    ///
    /// Readers wait meanwhile. 0 gives them the first error, and `forever` never an error.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_patience)]
    pub(crate) retry_timeout: Duration,
}

impl SourceOptions {
    /// The same for the backend.
    pub(crate) fn connect(&self) -> ConnectOptions {
        ConnectOptions::default()
            .with_endpoint(self.endpoint.clone())
            .with_anonymous(self.anonymous)
            .with_region(self.region.clone())
            .with_profile(self.profile.clone())
            .with_header_file(self.header_file.clone())
            .with_direct(self.direct)
            .with_retry(RetryOptions::default().with_deadline(self.retry_timeout))
    }
}

/// As [`parse_duration`], and `forever`.
fn parse_patience(text: &str) -> Result<Duration, String> {
    if text == "forever" { Ok(Duration::MAX) } else { parse_duration(text) }
}
