//! S3 and stores with its protocol.

mod container;
mod process;
mod profile;
mod renewal;
mod role;
mod sign_on;
mod source;

use std::sync::Arc;

use object_store::RetryConfig;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey as Key, AwsCredentialProvider};
use object_store::client::HttpClient;
use profile::{Files, Section};

use super::{Built, StoreUrl, build_error, check_endpoint};
use crate::connect::ConnectOptions;
use crate::object::Connector;
use crate::{Error, ErrorKind, Result};

/// The settings of a connection.
#[derive(Clone, Debug)]
struct Context {
    url: StoreUrl,
    options: ConnectOptions,
    region: String,
    connector: Connector,
}

/// The store and its endpoint. Settings of `options` take precedence over the environment, and the
/// environment over the profile. A profile named in `options` takes precedence over credentials of
/// the environment.
pub(super) async fn build(url: &StoreUrl, options: &ConnectOptions) -> Result<Built> {
    let files = Files::read(&options.environment).await?;
    let (name, profile) = profile_of(options, &files)?;
    let region = region(options, &profile);
    let endpoint = endpoint(options, &profile);
    let context = Context {
        url: url.clone(),
        options: options.clone(),
        region,
        connector: Connector::new(options.client()?),
    };
    let mut builder = context.builder();
    if let Some(endpoint) = &endpoint {
        check_endpoint(endpoint)?;
        builder = builder.with_config(Key::S3Endpoint, endpoint).with_allow_http(true);
    }
    let mut source = String::new();
    if options.anonymous {
        builder = builder.with_skip_signature(true);
    } else {
        let chosen = source::choose(&context, &name, &profile).await?;
        source = chosen.name().to_owned();
        builder = builder.with_credentials(Arc::new(chosen));
    }
    let endpoint = endpoint.unwrap_or_else(|| format!("https://s3.{}.amazonaws.com", context.region));
    let store = builder.build().map_err(|error| build_error(url, &error))?;
    Ok(Built { store: Arc::new(store), endpoint, source })
}

impl Context {
    /// The settings of the environment, except for keys.
    fn builder(&self) -> AmazonS3Builder {
        let never = RetryConfig { max_retries: 0, ..RetryConfig::default() };
        let mut builder =
            AmazonS3Builder::new().with_retry(never).with_http_connector(self.connector.clone());
        for (name, value) in self.options.environment.with_prefix("AWS_") {
            let key = name.to_ascii_lowercase().parse().ok();
            if let Some(key) =
                key.filter(|key| !matches!(key, Key::AccessKeyId | Key::SecretAccessKey | Key::Token))
            {
                builder = builder.with_config(key, value);
            }
        }
        if let Some(endpoint) = self.options.environment.get(source::INSTANCE_ENDPOINT) {
            builder = builder.with_metadata_endpoint(endpoint.trim_end_matches('/'));
        }
        builder.with_bucket_name(&self.url.bucket).with_region(&self.region)
    }

    /// The credentials that `builder` finds: those of a web identity, a container or an instance.
    fn provider(&self, builder: AmazonS3Builder) -> Result<AwsCredentialProvider> {
        Ok(builder.build().map_err(|error| build_error(&self.url, &error))?.credentials().clone())
    }

    fn client(&self) -> HttpClient {
        self.connector.client()
    }
}

/// The profile that is asked for, or `default`, which may be missing.
fn profile_of(options: &ConnectOptions, files: &Files) -> Result<(String, Section)> {
    let Some(name) = options.profile.clone().or_else(|| options.environment.get("AWS_PROFILE")) else {
        return Ok(("default".to_owned(), files.profile("default").unwrap_or_default()));
    };
    match files.profile(&name) {
        Some(profile) => Ok((name, profile)),
        None => {
            let message = format!("there is no profile {name:?} in ~/.aws/credentials or ~/.aws/config");
            Err(Error::new(ErrorKind::Invalid, message))
        }
    }
}

fn region(options: &ConnectOptions, profile: &Section) -> String {
    let environment = &options.environment;
    let given = options.region.clone();
    let given =
        given.or_else(|| environment.get("AWS_REGION")).or_else(|| environment.get("AWS_DEFAULT_REGION"));
    given.or_else(|| profile.get("region").cloned()).unwrap_or_else(|| "us-east-1".to_owned())
}

fn endpoint(options: &ConnectOptions, profile: &Section) -> Option<String> {
    let variables = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];
    let environment = || variables.iter().find_map(|name| options.environment.get(name));
    let endpoint =
        options.endpoint.clone().or_else(environment).or_else(|| profile.get("endpoint_url").cloned())?;
    Some(endpoint.trim_end_matches('/').to_owned())
}
