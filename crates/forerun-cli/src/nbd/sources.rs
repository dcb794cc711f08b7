//! The objects that are served, and where writes to them go.

use std::collections::HashSet;
use std::error::Error;
use std::sync::Arc;

use forerun::{Forerun, Options};
use forerun_serve::nbd::{Exports, Overlay, Source, WritableObject, WrittenSource};

use super::{ImageFormat, NbdCommand};
use crate::servers::{NamedUrl, Upstreams};

/// The URLs that need an engine each: those that are served, then that of the backing files.
///
/// # Errors
/// If the options do not fit the format.
pub(super) fn urls(command: &NbdCommand) -> Result<Vec<NamedUrl>, Box<dyn Error>> {
    let mut urls = command.urls.clone();
    let is_raw = command.format == ImageFormat::Raw;
    if command.writable && !is_raw {
        return Err("--writable writes to raw files: keep the writes to an image by --overlay FILE".into());
    }
    if let Some(url) = &command.backing {
        if is_raw {
            return Err("--backing is for images: add --format qcow2".into());
        }
        urls.push(NamedUrl { name: None, url: url.clone() });
    }
    Ok(urls)
}

/// Connects `upstreams`, and returns the exports of all.
///
/// # Errors
/// If an object or the place for its writes cannot be used.
pub(super) async fn connect(
    command: &NbdCommand,
    upstreams: &mut Upstreams<'_>,
) -> Result<Exports, Box<dyn Error>> {
    if command.overlay.is_some() && command.urls.len() > 1 {
        return Err("--overlay has one file for one URL: start a server for each URL".into());
    }
    let backing = match &command.backing {
        Some(url) => Some(open_backing(url, upstreams.options()).await?),
        None => None,
    };
    let (mut sources, mut names) = (Vec::new(), HashSet::new());
    for named in &command.urls {
        let (forerun, source) = open(command, named, backing.as_ref(), upstreams.options()).await?;
        if let Some(name) = source.single()
            && !names.insert(name.to_owned())
        {
            return Err(
                format!("two exports are called {name:?}: give one another name, as in NAME=URL").into()
            );
        }
        upstreams.push(forerun);
        sources.push(source);
    }
    // It is the last of the URLs.
    backing.into_iter().for_each(|forerun| upstreams.push(forerun));
    Ok(Exports::new(sources))
}

/// Connects to the directory of the backing files.
async fn open_backing(url: &str, options: &Options) -> Result<Forerun, Box<dyn Error>> {
    let forerun = Forerun::connect(url, options.clone()).await?;
    if forerun.object().is_some() {
        let shown = forerun::without_secrets(url);
        return Err(
            format!("--backing needs a directory, and {shown} is one object: name its directory").into()
        );
    }
    Ok(forerun)
}

async fn open(
    command: &NbdCommand,
    named: &NamedUrl,
    backing: Option<&Forerun>,
    options: &Options,
) -> Result<(Forerun, Source), Box<dyn Error>> {
    let new = |forerun: &Forerun| Source::new(forerun.clone(), named.name.clone());
    if command.writable {
        let found = Forerun::connect(&named.url, options.clone().with_learn(None)).await?;
        let object = Arc::new(WritableObject::open(&found).await?);
        let backend = Arc::new(WrittenSource(Arc::clone(&object)));
        let forerun = Forerun::over(backend, options.clone())?;
        let source = new(&forerun).with_writable(object);
        return Ok((forerun, source));
    }
    let forerun = Forerun::connect(&named.url, options.clone()).await?;
    let mut source = new(&forerun);
    if command.format == ImageFormat::Qcow2 {
        source = source.with_qcow2(backing.cloned());
    }
    let disk = match forerun.object() {
        // An image that cannot be served is told now, and not to the first client.
        Some(object) => Some(source.disk(object).await?),
        None => None,
    };
    if let Some(path) = &command.overlay {
        let (Some(object), Some(disk)) = (forerun.object(), &disk) else {
            let shown = forerun::without_secrets(&named.url);
            return Err(format!(
                "--overlay keeps the writes to one object, and {shown} is a directory: name one object in it"
            )
            .into());
        };
        source = source.with_overlay(object, Overlay::open(path, disk)?);
    }
    Ok((forerun, source))
}
