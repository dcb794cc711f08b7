//! Connecting to a Ceph cluster.

use std::sync::Arc;

use super::{ConnectOptions, Connected};
use crate::layer::{Only, Retry};
use crate::rbd::{RbdBackend, RbdUrl};
use crate::tries::Retries;
use crate::{Backend, Result};

/// Connects to all images of a pool, or to one image or snapshot.
pub(super) async fn connect_rbd(url: RbdUrl, options: &ConnectOptions) -> Result<Connected> {
    let url = url.with_environment(&options.environment);
    let first = Retries::new(options.retry.at_first());
    let backend = first.repeat(|| RbdBackend::connect(&url)).await?;
    let backend: Arc<dyn Backend> = Arc::new(backend);
    let path = url.image.clone();
    Retry::sharing(Arc::clone(&backend), first).stat(path.as_deref().unwrap_or("")).await?;
    let retried = Arc::new(Retry::new(backend, options.retry.clone()));
    let Some(path) = path else { return Ok(Connected::to(retried)) };
    let shown = format!("{}{path}", retried.url());
    let only = Only::new(retried, path.clone(), path.clone()).with_url(shown);
    Ok(Connected { object: Some(path), ..Connected::to(Arc::new(only)) })
}
