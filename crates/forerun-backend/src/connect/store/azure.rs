//! Azure Blob Storage.

use std::sync::Arc;

use object_store::RetryConfig;
use object_store::azure::{AzureConfigKey as Key, MicrosoftAzureBuilder};

use super::{Store, StoreUrl, build_error, check_endpoint, metadata_answers, no_credentials};
use crate::connect::{ConnectOptions, Environment};
use crate::object::Connector;
use crate::{Error, ErrorKind, Result};

/// The store and its endpoint. The account is the URL's
/// (`abfss://container@account.dfs.core.windows.net/`) or the environment's.
pub(super) async fn build(url: &StoreUrl, options: &ConnectOptions) -> Result<(Arc<dyn Store>, String)> {
    let environment = &options.environment;
    let never = RetryConfig { max_retries: 0, ..RetryConfig::default() };
    let mut builder =
        MicrosoftAzureBuilder::new().with_retry(never).with_http_connector(Connector::new(options.client()?));
    for (name, value) in environment.with_prefix("AZURE_") {
        if let Ok(key) = name.to_ascii_lowercase().parse() {
            builder = builder.with_config(key, value);
        }
    }
    let (container, host) = url.bucket.split_once('@').unwrap_or((&url.bucket, ""));
    let account = host.split('.').next().filter(|account| !account.is_empty()).map(str::to_owned);
    let account = account.or_else(|| environment.get("AZURE_STORAGE_ACCOUNT_NAME")).ok_or_else(|| {
        let message = format!("{}: no storage account; set AZURE_STORAGE_ACCOUNT_NAME", url.text);
        Error::new(ErrorKind::Invalid, message)
    })?;
    builder = builder.with_container_name(container).with_account(&account);
    let variables = ["AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"];
    let endpoint =
        options.endpoint.clone().or_else(|| variables.iter().find_map(|name| environment.get(name)));
    if let Some(endpoint) = &endpoint {
        check_endpoint(endpoint)?;
        builder = builder.with_config(Key::Endpoint, endpoint.trim_end_matches('/')).with_allow_http(true);
    }
    if options.anonymous {
        builder = builder.with_skip_signature(true);
    } else if !has_credentials(environment) && !metadata_answers("169.254.169.254:80").await {
        return Err(no_credentials(url, "AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN"));
    }
    let store = builder.build().map_err(|error| build_error(url, &error))?;
    Ok((Arc::new(store), endpoint.unwrap_or_else(|| format!("https://{account}.blob.core.windows.net"))))
}

/// Any way to prove who is asking, other than the instance's own identity.
fn has_credentials(environment: &Environment) -> bool {
    let words =
        ["KEY", "SAS", "TOKEN", "SECRET", "USE_AZURE_CLI", "EMULATOR", "MSI_ENDPOINT", "IDENTITY_ENDPOINT"];
    environment.with_prefix("AZURE_").iter().any(|(name, _)| words.iter().any(|word| name.contains(word)))
}
