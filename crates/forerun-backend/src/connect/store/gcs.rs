//! Google Cloud Storage.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use object_store::RetryConfig;
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey as Key};
use serde_json::Value;

use super::credentials::NamedCredentials;
use super::{Built, StoreUrl, build_error, check_endpoint, metadata_answers, no_credentials};
use crate::connect::{ConnectOptions, Environment};
use crate::object::Connector;
use crate::{Error, ErrorKind, Result};

/// The service that gives an instance its tokens.
const METADATA: &str = "http://metadata.google.internal";
/// The file of `gcloud auth application-default login`, below the home directory.
const LOGIN: &str = ".config/gcloud/application_default_credentials.json";

/// The store and its endpoint.
pub(super) async fn build(url: &StoreUrl, options: &ConnectOptions) -> Result<Built> {
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
    let build =
        |builder: GoogleCloudStorageBuilder| builder.build().map_err(|error| build_error(url, &error));
    let mut source = String::new();
    if options.anonymous {
        builder = builder.with_skip_signature(true);
    } else {
        let (name, tried) = choose(url, environment).await?;
        let provider = build(builder.clone())?.credentials().clone();
        let chosen = NamedCredentials::new(provider, name.clone(), &tried);
        chosen.check(&url.text, &options.retry).await?;
        source = name;
        builder = builder.with_credentials(Arc::new(chosen));
    }
    let store = build(builder)?;
    let endpoint = endpoint.unwrap_or_else(|| "https://storage.googleapis.com".to_owned());
    Ok(Built { store: Arc::new(store), endpoint, source })
}

/// The name for messages of the first source that exists, and the sources before it.
async fn choose(url: &StoreUrl, environment: &Environment) -> Result<(String, Vec<String>)> {
    let mut tried = Vec::new();
    for name in [
        "GOOGLE_BEARER_TOKEN",
        "GOOGLE_SERVICE_ACCOUNT_KEY",
        "GOOGLE_SERVICE_ACCOUNT",
        "GOOGLE_SERVICE_ACCOUNT_PATH",
    ] {
        if environment.get(name).is_some() {
            return Ok((name.to_owned(), tried));
        }
        tried.push(name.to_owned());
    }
    let named = environment.get("GOOGLE_APPLICATION_CREDENTIALS").map(PathBuf::from);
    let login =
        || environment.get("HOME").map(|home| Path::new(&home).join(LOGIN)).filter(|file| file.exists());
    if let Some(file) = named.or_else(login) {
        check_kind(url, &file)?;
        return Ok((file.display().to_string(), tried));
    }
    tried.push("GOOGLE_APPLICATION_CREDENTIALS".to_owned());
    tried.push(format!("~/{LOGIN}"));
    let name = format!("the metadata service at {METADATA}");
    if metadata_answers(METADATA).await {
        return Ok((name, tried));
    }
    tried.push(format!("{name} (it does not answer)"));
    Err(no_credentials(url, &tried))
}

/// Refuses a file of credentials that object_store cannot use, and names the remedy.
fn check_kind(url: &StoreUrl, file: &Path) -> Result<()> {
    let denied = |why: &str| {
        let message = format!("{}: the credentials in {} {why}", url.text, file.display());
        Err(Error::new(ErrorKind::Denied, message))
    };
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => return denied(&format!("cannot be read: {error}; set GOOGLE_APPLICATION_CREDENTIALS")),
    };
    let json: Value = match serde_json::from_str(&text) {
        Ok(json) => json,
        Err(_) => return denied("are not JSON; create the file anew"),
    };
    match json["type"].as_str() {
        Some("service_account" | "authorized_user") => Ok(()),
        kind => denied(&format!(
            "are of type {:?}, which is not supported. Set GOOGLE_APPLICATION_CREDENTIALS to a file of type \
             service_account or authorized_user. For an hour, GOOGLE_BEARER_TOKEN may have what \
             `gcloud auth application-default print-access-token` prints",
            kind.unwrap_or("none")
        )),
    }
}
