//! S3 and what speaks its protocol.

use std::sync::Arc;

use object_store::RetryConfig;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey as Key};

use super::profile::{self, Profile};
use super::{Store, StoreUrl, build_error, check_endpoint, metadata_answers, no_credentials};
use crate::connect::{ConnectOptions, Environment};
use crate::object::Connector;
use crate::{Error, ErrorKind, Result};

/// The store and its endpoint. What `options` say goes before the environment,
/// and the environment before the profile; a profile named in `options` goes
/// before the environment's credentials.
pub(super) async fn build(url: &StoreUrl, options: &ConnectOptions) -> Result<(Arc<dyn Store>, String)> {
    let environment = &options.environment;
    let profile = profile_of(options).await?;
    let never = RetryConfig { max_retries: 0, ..RetryConfig::default() };
    let mut builder =
        AmazonS3Builder::new().with_retry(never).with_http_connector(Connector::new(options.client()?));
    let keys = keys_of(options, &profile);
    for (name, value) in environment.with_prefix("AWS_") {
        // A token of the environment does not fit keys of the profile.
        let replaced = keys.is_some()
            && matches!(&*name, "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" | "AWS_SESSION_TOKEN");
        if replaced {
            continue;
        }
        if let Ok(key) = name.to_ascii_lowercase().parse() {
            builder = builder.with_config(key, value);
        }
    }
    let region = region(options, &profile);
    let endpoint = endpoint(options, &profile);
    builder = builder.with_bucket_name(&url.bucket).with_region(&region);
    if let Some(endpoint) = &endpoint {
        check_endpoint(endpoint)?;
        builder = builder.with_config(Key::S3Endpoint, endpoint).with_allow_http(true);
    }
    builder = if options.anonymous {
        builder.with_skip_signature(true)
    } else {
        credentials(builder, url, environment, keys).await?
    };
    let endpoint = endpoint.unwrap_or_else(|| format!("https://s3.{region}.amazonaws.com"));
    let store = builder.build().map_err(|error| build_error(url, &error))?;
    Ok((Arc::new(store), endpoint))
}

/// The profile that is asked for, or `default`, which may be missing.
async fn profile_of(options: &ConnectOptions) -> Result<Profile> {
    let environment = options.environment.clone();
    let asked = options.profile.clone().or_else(|| environment.get("AWS_PROFILE"));
    let read = tokio::task::spawn_blocking(move || match asked {
        Some(name) => profile::read(&environment, &name)?.ok_or_else(|| {
            let message = format!("there is no profile {name:?} in ~/.aws/credentials or ~/.aws/config");
            Error::new(ErrorKind::Invalid, message)
        }),
        None => Ok(profile::read(&environment, "default")?.unwrap_or_default()),
    });
    read.await.map_err(|stopped| {
        Error::new(ErrorKind::Permanent, format!("the thread that reads the profile stopped: {stopped}"))
    })?
}

fn region(options: &ConnectOptions, profile: &Profile) -> String {
    let environment = &options.environment;
    let given = options.region.clone();
    let given =
        given.or_else(|| environment.get("AWS_REGION")).or_else(|| environment.get("AWS_DEFAULT_REGION"));
    given.or_else(|| profile.region.clone()).unwrap_or_else(|| "us-east-1".to_owned())
}

fn endpoint(options: &ConnectOptions, profile: &Profile) -> Option<String> {
    let variables = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];
    let environment = || variables.iter().find_map(|name| options.environment.get(name));
    let endpoint = options.endpoint.clone().or_else(environment).or_else(|| profile.endpoint_url.clone())?;
    Some(endpoint.trim_end_matches('/').to_owned())
}

/// The keys of `profile`, if they are to be used rather than the environment's.
fn keys_of<'p>(
    options: &ConnectOptions,
    profile: &'p Profile,
) -> Option<(&'p str, &'p str, Option<&'p str>)> {
    let in_environment = options.environment.get("AWS_ACCESS_KEY_ID").is_some();
    let (id, secret) = (profile.access_key_id.as_deref()?, profile.secret_access_key.as_deref()?);
    (options.profile.is_some() || !in_environment).then_some((id, secret, profile.session_token.as_deref()))
}

async fn credentials(
    builder: AmazonS3Builder,
    url: &StoreUrl,
    environment: &Environment,
    keys: Option<(&str, &str, Option<&str>)>,
) -> Result<AmazonS3Builder> {
    if let Some((id, secret, token)) = keys {
        let builder = builder.with_access_key_id(id).with_secret_access_key(secret);
        return Ok(match token {
            Some(token) => builder.with_token(token),
            None => builder,
        });
    }
    let in_environment = environment.get("AWS_ACCESS_KEY_ID").is_some();
    if in_environment || assumes_role(environment) || on_instance(environment).await {
        return Ok(builder);
    }
    Err(no_credentials(url, "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE or --profile"))
}

/// Whether the environment says that a container's or a web identity's role is
/// to be assumed.
fn assumes_role(environment: &Environment) -> bool {
    let containers = ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"];
    containers.into_iter().chain(["AWS_WEB_IDENTITY_TOKEN_FILE"]).any(|name| environment.get(name).is_some())
}

async fn on_instance(environment: &Environment) -> bool {
    let disabled = environment.get("AWS_EC2_METADATA_DISABLED");
    !disabled.is_some_and(|value| value.eq_ignore_ascii_case("true"))
        && metadata_answers("169.254.169.254:80").await
}
