//! From a URL to a backend with the usual layers.

#[cfg(feature = "rbd")]
mod ceph;
mod choices;
mod environment;
mod headers;
mod location;
mod netrc;
mod options;
mod store;
mod web;

use std::path::Path;
use std::sync::Arc;

pub use environment::Environment;
use location::Location;
pub use options::{ConnectOptions, RetryOptions};

use crate::layer::{Only, Retry};
use crate::{Backend, Error, ErrorKind, FileBackend, Result};

/// A backend that answered.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Connected {
    /// The tree that the URL names. If it names one object, a directory that holds just that
    /// object.
    pub backend: Arc<dyn Backend>,
    /// The path of that one object.
    pub object: Option<String>,
    /// The source of an object store's credentials, for messages.
    pub credentials: Option<String>,
}

impl Connected {
    /// All of `backend`, which the caller made.
    pub fn to(backend: Arc<dyn Backend>) -> Connected {
        Connected { backend, object: None, credentials: None }
    }
}

/// Turns `url` into a backend and verifies that something is there.
///
/// | `url` | storage |
/// | --- | --- |
/// | `/usr/share`, `./image.iso`, `file:///usr/share` | a local directory or file |
/// | `http://host/dir/`, `https://host/file.bin` | a web server's listing, or one file |
/// | `s3://bucket/prefix/`, `s3://bucket/key` | an S3 bucket, a prefix or one object |
/// | `gs://bucket/prefix` | the same of Google Cloud Storage |
/// | `az://container/prefix`, `azure://`, `abfs://`, `abfss://` | the same of Azure Blob Storage |
/// | `rbd://pool/`, `rbd://pool/image`, `rbd://pool/image@snapshot` | images of Ceph, with the feature `rbd` |
///
/// Transient errors are retried as `options.retry` says.
///
/// # Errors
/// * [`ErrorKind::Invalid`] for a malformed URL.
/// * [`ErrorKind::NotFound`] if nothing is there.
/// * [`ErrorKind::Denied`] for credentials that are missing or wrong.
/// * [`ErrorKind::Unreachable`] for a server that does not answer.
pub async fn connect(url: &str, options: &ConnectOptions) -> Result<Connected> {
    match location::parse(url)? {
        Location::Http(location) => {
            options.refuse_remote_options(url)?;
            options.refuse_direct(url)?;
            web::connect_web(location, options).await
        }
        Location::Store(location) => {
            options.refuse_headers(url)?;
            options.refuse_direct(url)?;
            store::store(&location, options).await
        }
        #[cfg(feature = "rbd")]
        Location::Rbd(location) => {
            options.refuse_remote_options(url)?;
            options.refuse_headers(url)?;
            options.refuse_direct(url)?;
            ceph::connect_rbd(location, options).await
        }
        Location::File(path) => {
            options.refuse_remote_options(url)?;
            options.refuse_headers(url)?;
            let (retry, is_direct) = (options.retry.clone(), options.direct);
            tokio::task::spawn_blocking(move || file(&path, retry, is_direct))
                .await
                .map_err(|stopped| Error::new(ErrorKind::Permanent, format!("opening stopped: {stopped}")))?
        }
    }
}

fn file(path: &Path, retry: RetryOptions, is_direct: bool) -> Result<Connected> {
    let whole = std::path::absolute(path).and_then(std::fs::canonicalize);
    let whole = whole.map_err(|error| {
        let error = crate::file::io_error(path, error);
        let advice = "name a directory or file that exists, or a URL such as s3://bucket/prefix";
        Error { message: format!("{}; {advice}", error.message), ..error }
    })?;
    if !whole.is_file() && !whole.is_dir() {
        let message =
            format!("{} is neither a directory nor a file; name one of these, or a URL", path.display());
        return Err(Error::new(ErrorKind::NotADirectory, message));
    }
    if whole.is_dir() {
        let backend = Retry::new(Arc::new(FileBackend::new(path)?.with_direct(is_direct)), retry);
        return Ok(Connected::to(Arc::new(backend)));
    }
    let utf8 = |path: &Path| path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    let (Some(inner), Some(shown), Some(parent)) = (utf8(&whole), utf8(path), whole.parent()) else {
        let message = format!("{} has a name that is not UTF-8; rename it or link to it", path.display());
        return Err(Error::new(ErrorKind::Invalid, message));
    };
    let backend = Retry::new(Arc::new(FileBackend::new(parent)?.with_direct(is_direct)), retry);
    let only = Only::new(Arc::new(backend), inner, shown.clone());
    let url = url::Url::from_file_path(&whole).map_or_else(|()| whole.display().to_string(), String::from);
    Ok(Connected { backend: Arc::new(only.with_url(url)), object: Some(shown), credentials: None })
}

/// A directory with the object `path` of `backend` alone, called `name`. The URL of `backend` names
/// the object.
fn single(backend: Arc<dyn Backend>, path: String, name: String) -> Connected {
    let backend = Arc::new(Only::new(backend, path, name.clone()));
    Connected { backend, object: Some(name), credentials: None }
}
