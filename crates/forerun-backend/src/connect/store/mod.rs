//! Connecting to an object store.

mod aws;
mod azure;
mod credentials;
mod gcs;

use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStore;
use object_store::list::PaginatedListStore;
use tokio::net::TcpStream;

use super::{ConnectOptions, Connected, single};
use crate::layer::Retry;
use crate::object::ObjectBackend;
use crate::{Backend, Error, ErrorKind, Result};

/// The kinds of object stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Provider {
    S3,
    Gcs,
    Azure,
}

/// An object store, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoreUrl {
    pub(super) provider: Provider,
    /// The URL as given.
    pub(super) text: String,
    /// The bucket or container, with the account of an `abfs` URL.
    pub(super) bucket: String,
    /// A key or prefix, verbatim; a prefix if it ends in a slash.
    pub(super) key: String,
}

/// The operations of every kind of store.
trait Store: ObjectStore + PaginatedListStore {}

impl<S: ObjectStore + PaginatedListStore> Store for S {}

/// The longest time for a connection to an instance's metadata service, which is on the same host.
const METADATA_TIMEOUT: Duration = Duration::from_millis(500);

/// A store that was not asked yet.
struct Built {
    store: Arc<dyn Store>,
    endpoint: String,
    /// The name of the source of its credentials.
    source: String,
}

/// Connects to a directory if `url` names a bucket or prefix, or to one object if the key is that
/// of an object.
pub(super) async fn store(url: &StoreUrl, options: &ConnectOptions) -> Result<Connected> {
    let built = match url.provider {
        Provider::S3 => aws::build(url, options).await,
        Provider::Gcs => gcs::build(url, options).await,
        Provider::Azure => azure::build(url, options).await,
    }?;
    let connected = open(url, built.store.clone(), options).await;
    let connected = connected.map_err(|error| explain(url, &built, error))?;
    let credentials = Some(built.source).filter(|source| !source.is_empty());
    Ok(Connected { credentials, ..connected })
}

async fn open(url: &StoreUrl, store: Arc<dyn Store>, options: &ConnectOptions) -> Result<Connected> {
    let below = |prefix: &str| ObjectBackend::new(store.clone(), store.clone(), prefix, &url.text);
    let first = |backend: &Arc<dyn Backend>| Retry::new(backend.clone(), options.retry.at_first());
    let later = |backend| Arc::new(Retry::new(backend, options.retry.clone()));
    let key = url.key.strip_suffix('/').unwrap_or(&url.key);
    if key == url.key && !key.is_empty() {
        let (parent, name) = key.rsplit_once('/').unwrap_or(("", key));
        let object: Arc<dyn Backend> = Arc::new(below(parent)?.only_objects());
        match first(&object).stat(name).await {
            Err(error) if error.kind == ErrorKind::NotFound => {}
            found => return found.map(|_| single(later(object), name.to_owned(), name.to_owned())),
        }
    }
    let backend: Arc<dyn Backend> = Arc::new(below(key)?);
    first(&backend).stat("").await?;
    Ok(Connected::to(later(backend)))
}

/// Adds the remedy to `error`.
fn explain(url: &StoreUrl, built: &Built, error: Error) -> Error {
    let endpoint = crate::without_secrets(&built.endpoint);
    let setting = match url.provider {
        Provider::S3 => "AWS_ENDPOINT_URL",
        Provider::Gcs => "GOOGLE_BASE_URL",
        Provider::Azure => "AZURE_STORAGE_ENDPOINT",
    };
    let advice = match error.kind {
        ErrorKind::Denied if built.source.is_empty() => {
            format!("; leave --anonymous out, and set {}", wanted(url.provider))
        }
        ErrorKind::Denied => format!(
            "; check {}, which the credentials come from, or read a public bucket with --anonymous",
            built.source
        ),
        ErrorKind::NotFound => {
            format!("; check the bucket {:?} and the key {:?} at {endpoint}", url.bucket, url.key)
        }
        ErrorKind::Unreachable => format!("; check --endpoint or {setting} (it is {endpoint})"),
        ErrorKind::Invalid if url.provider == Provider::S3 => {
            format!("; check the bucket's region (AWS_REGION or --region) and --endpoint (it is {endpoint})")
        }
        _ => String::new(),
    };
    Error { message: format!("{error}{advice}"), ..error }
}

/// The settings that a user without credentials is told of.
fn wanted(provider: Provider) -> &'static str {
    match provider {
        Provider::S3 => "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE or --profile",
        Provider::Gcs => "GOOGLE_APPLICATION_CREDENTIALS, or run `gcloud auth application-default login`",
        Provider::Azure => {
            "AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN, or AZURE_USE_AZURE_CLI=true after `az login`"
        }
    }
}

/// Plain HTTP needs an explicit `http://`.
fn check_endpoint(endpoint: &str) -> Result<()> {
    let known = ["http://", "https://"].iter().any(|scheme| endpoint.starts_with(scheme));
    if known && url::Url::parse(endpoint).is_ok() {
        return Ok(());
    }
    let shown = crate::without_secrets(endpoint);
    let message = format!("the endpoint {shown:?} is not a URL; write http://host:port or https://host");
    Err(Error::new(ErrorKind::Invalid, message))
}

/// Whether a cloud instance's metadata service answers at the URL `service`. Elsewhere, asking it
/// for credentials would take until a timeout.
async fn metadata_answers(service: &str) -> bool {
    let Ok(service) = url::Url::parse(service) else { return false };
    let (Some(host), Some(port)) = (service.host_str(), service.port_or_known_default()) else {
        return false;
    };
    let connect = TcpStream::connect((host.trim_matches(['[', ']']), port));
    matches!(tokio::time::timeout(METADATA_TIMEOUT, connect).await, Ok(Ok(_)))
}

/// The error if none of the sources `tried` has credentials.
fn no_credentials(url: &StoreUrl, tried: &[String]) -> Error {
    let message = format!(
        "{}: no credentials were found; set {}, or read a public bucket with --anonymous; tried in this order: {}",
        url.text,
        wanted(url.provider),
        tried.join(", ")
    );
    Error::new(ErrorKind::Denied, message)
}

fn build_error(url: &StoreUrl, error: &object_store::Error) -> Error {
    Error::new(ErrorKind::Invalid, format!("{}: {error}", url.text))
}
