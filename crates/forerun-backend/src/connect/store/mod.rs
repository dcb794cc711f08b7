//! Connecting to an object store.

mod azure;
mod gcs;
mod profile;
mod s3;

use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStore;
use object_store::list::PaginatedListStore;
use tokio::net::TcpStream;

use super::{ConnectOptions, Connected, single};
use crate::layer::Retry;
use crate::object::ObjectBackend;
use crate::{Backend, Error, ErrorKind, Kind, Result};

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

/// How long an instance's metadata service may take to accept a connection: it
/// is on the same host.
const METADATA_TIMEOUT: Duration = Duration::from_millis(500);

/// A directory where `url` names a bucket or prefix, and one object where there
/// is an object of that key.
pub(super) async fn store(url: &StoreUrl, options: &ConnectOptions) -> Result<Connected> {
    let (store, endpoint) = match url.provider {
        Provider::S3 => s3::build(url, options).await,
        Provider::Gcs => gcs::build(url, options).await,
        Provider::Azure => azure::build(url, options).await,
    }?;
    let connected = open(url, store, options).await;
    connected.map_err(|error| explain(url, &endpoint, error))
}

async fn open(url: &StoreUrl, store: Arc<dyn Store>, options: &ConnectOptions) -> Result<Connected> {
    let below = |prefix: &str| -> Result<Arc<dyn Backend>> {
        Ok(Arc::new(ObjectBackend::new(store.clone(), store.clone(), prefix, &url.text)?))
    };
    let first = |backend: &Arc<dyn Backend>| Retry::new(backend.clone(), options.retry.at_first());
    let later = |backend| Arc::new(Retry::new(backend, options.retry.clone()));
    let key = url.key.strip_suffix('/').unwrap_or(&url.key);
    if key == url.key && !key.is_empty() {
        let (parent, name) = key.rsplit_once('/').unwrap_or(("", key));
        let backend = below(parent)?;
        if first(&backend).stat(name).await?.kind == Kind::File {
            return Ok(single(later(backend), name.to_owned(), name.to_owned()));
        }
    }
    let backend = below(key)?;
    first(&backend).stat("").await?;
    Ok(Connected { backend: later(backend), object: None })
}

/// Adds what to do next.
fn explain(url: &StoreUrl, endpoint: &str, error: Error) -> Error {
    let endpoint = crate::without_secrets(endpoint);
    let (credentials, setting) = match url.provider {
        Provider::S3 => (
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile (AWS_PROFILE or --profile)",
            "AWS_ENDPOINT_URL",
        ),
        Provider::Gcs => ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_BASE_URL"),
        Provider::Azure => {
            ("AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_ENDPOINT")
        }
    };
    let advice = match error.kind {
        ErrorKind::Denied => format!("; check {credentials}, or read a public bucket with --anonymous"),
        ErrorKind::NotFound => {
            format!("; check the bucket {:?} and the key {:?} at {endpoint}", url.bucket, url.key)
        }
        ErrorKind::Unreachable => format!("; check --endpoint or {setting} (it is {endpoint})"),
        ErrorKind::Invalid if url.provider == Provider::S3 => {
            format!("; check the bucket's region (AWS_REGION or --region) and --endpoint (it is {endpoint})")
        }
        _ => String::new(),
    };
    Error::new(error.kind, format!("{error}{advice}"))
}

/// Plain HTTP is a choice somebody has to make, by writing it.
fn check_endpoint(endpoint: &str) -> Result<()> {
    let known = ["http://", "https://"].iter().any(|scheme| endpoint.starts_with(scheme));
    if known && url::Url::parse(endpoint).is_ok() {
        return Ok(());
    }
    let shown = crate::without_secrets(endpoint);
    let message = format!("the endpoint {shown:?} is not a URL; write http://host:port or https://host");
    Err(Error::new(ErrorKind::Invalid, message))
}

/// Whether the metadata service of a cloud instance is there to ask for
/// credentials: elsewhere, asking takes until a timeout.
async fn metadata_answers(host_and_port: &str) -> bool {
    let connect = TcpStream::connect(host_and_port);
    matches!(tokio::time::timeout(METADATA_TIMEOUT, connect).await, Ok(Ok(_)))
}

fn no_credentials(url: &StoreUrl, looked: &str) -> Error {
    let message = format!(
        "{}: no credentials were found; set {looked}, or read a public bucket with --anonymous",
        url.text
    );
    Error::new(ErrorKind::Denied, message)
}

fn build_error(url: &StoreUrl, error: &object_store::Error) -> Error {
    Error::new(ErrorKind::Invalid, format!("{}: {error}", url.text))
}
