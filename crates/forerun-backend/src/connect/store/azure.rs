//! Azure Blob Storage.

use std::sync::Arc;

use object_store::RetryConfig;
use object_store::azure::{AzureConfigKey as Key, MicrosoftAzureBuilder};

use super::credentials::NamedCredentials;
use super::{Built, StoreUrl, build_error, check_endpoint, metadata_answers, no_credentials};
use crate::connect::ConnectOptions;
use crate::object::Connector;
use crate::{Error, ErrorKind, Result};

/// The service that gives an instance its tokens.
const METADATA: &str = "http://169.254.169.254";

/// The store and its endpoint. The account comes from the URL
/// (`abfss://container@account.dfs.core.windows.net/`) or from the environment.
pub(super) async fn build(url: &StoreUrl, options: &ConnectOptions) -> Result<Built> {
    let environment = &options.environment;
    let never = RetryConfig { max_retries: 0, ..RetryConfig::default() };
    let mut builder =
        MicrosoftAzureBuilder::new().with_retry(never).with_http_connector(Connector::new(options.client()?));
    for (name, value) in environment.with_prefix("AZURE_") {
        if let Ok(key) = name.to_ascii_lowercase().parse() {
            builder = builder.with_config(key, value);
        }
    }
    // Services such as App Service announce their endpoint by this variable.
    if let Some(endpoint) = environment.get("IDENTITY_ENDPOINT") {
        builder = builder.with_config(Key::MsiEndpoint, endpoint);
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
    let build = |builder: MicrosoftAzureBuilder| builder.build().map_err(|error| build_error(url, &error));
    let mut source = String::new();
    if options.anonymous {
        builder = builder.with_skip_signature(true);
    } else {
        let (name, tried) = choose(url, &builder).await?;
        let provider = build(builder.clone())?.credentials().clone();
        let chosen = NamedCredentials::new(provider, name.clone(), &tried);
        chosen.check(&url.text, &options.retry).await?;
        source = name;
        builder = builder.with_credentials(Arc::new(chosen));
    }
    let store = build(builder)?;
    let endpoint = endpoint.unwrap_or_else(|| format!("https://{account}.blob.core.windows.net"));
    Ok(Built { store: Arc::new(store), endpoint, source })
}

/// The name for messages of the source that object_store takes from `builder`, and the sources
/// before it.
async fn choose(url: &StoreUrl, builder: &MicrosoftAzureBuilder) -> Result<(String, Vec<String>)> {
    let has = |key: &Key| builder.get_config_value(key).is_some_and(|value| value != "false");
    let sources: [(&str, &[Key]); 6] = [
        ("AZURE_STORAGE_TOKEN", &[Key::Token]),
        ("AZURE_STORAGE_ACCOUNT_KEY", &[Key::AccessKey]),
        (
            "AZURE_FEDERATED_TOKEN_FILE with AZURE_CLIENT_ID and AZURE_TENANT_ID",
            &[Key::FederatedTokenFile, Key::ClientId, Key::AuthorityId],
        ),
        (
            "AZURE_CLIENT_SECRET with AZURE_CLIENT_ID and AZURE_TENANT_ID",
            &[Key::ClientSecret, Key::ClientId, Key::AuthorityId],
        ),
        ("AZURE_STORAGE_SAS_TOKEN", &[Key::SasKey]),
        ("the program az (AZURE_USE_AZURE_CLI)", &[Key::UseAzureCli]),
    ];
    let mut tried = Vec::new();
    for (name, keys) in sources {
        if keys.iter().all(has) {
            return Ok((name.to_owned(), tried));
        }
        tried.push(name.to_owned());
    }
    let given = builder.get_config_value(&Key::MsiEndpoint);
    let service = given.as_deref().unwrap_or(METADATA);
    let name = format!("the managed identity at {}", crate::without_secrets(service));
    if given.is_some() || metadata_answers(service).await {
        return Ok((name, tried));
    }
    tried.push(format!("{name} (it does not answer)"));
    Err(no_credentials(url, &tried))
}
