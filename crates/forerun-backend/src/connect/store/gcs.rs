//! Google Cloud Storage.

use std::path::Path;
use std::sync::Arc;

use object_store::RetryConfig;
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey as Key};

use super::{Store, StoreUrl, build_error, check_endpoint, metadata_answers, no_credentials};
use crate::Result;
use crate::connect::{ConnectOptions, Environment};
use crate::object::Connector;

/// The store and its endpoint.
pub(super) async fn build(url: &StoreUrl, options: &ConnectOptions) -> Result<(Arc<dyn Store>, String)> {
    let environment = &options.environment;
    let never = RetryConfig { max_retries: 0, ..RetryConfig::default() };
    let mut builder = GoogleCloudStorageBuilder::new()
        .with_retry(never)
        .with_http_connector(Connector::new(options.client()?));
    for (name, value) in environment.with_prefix("GOOGLE_") {
        if let Ok(key) = name.to_ascii_lowercase().parse() {
            builder = builder.with_config(key, value);
        }
    }
    builder = builder.with_bucket_name(&url.bucket);
    let endpoint = options.endpoint.clone().or_else(|| environment.get("GOOGLE_BASE_URL"));
    if let Some(endpoint) = &endpoint {
        check_endpoint(endpoint)?;
        builder = builder.with_config(Key::BaseUrl, endpoint.trim_end_matches('/'));
    }
    if options.anonymous {
        builder = builder.with_skip_signature(true);
    } else if !has_credentials(environment) && !metadata_answers("metadata.google.internal:80").await {
        return Err(no_credentials(
            url,
            "GOOGLE_APPLICATION_CREDENTIALS, or run `gcloud auth application-default login`",
        ));
    }
    let store = builder.build().map_err(|error| build_error(url, &error))?;
    Ok((Arc::new(store), endpoint.unwrap_or_else(|| "https://storage.googleapis.com".to_owned())))
}

fn has_credentials(environment: &Environment) -> bool {
    let variables = [
        "GOOGLE_APPLICATION_CREDENTIALS",
        "GOOGLE_SERVICE_ACCOUNT",
        "GOOGLE_SERVICE_ACCOUNT_PATH",
        "GOOGLE_SERVICE_ACCOUNT_KEY",
        "GOOGLE_BEARER_TOKEN",
    ];
    let login = environment
        .get("HOME")
        .map(|home| Path::new(&home).join(".config/gcloud/application_default_credentials.json"));
    variables.iter().any(|name| environment.get(name).is_some()) || login.is_some_and(|file| file.exists())
}
