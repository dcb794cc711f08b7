//! The objects that are served, and where writes to them go.

use std::collections::HashSet;
use std::error::Error;
use std::sync::Arc;

use forerun::{Forerun, Options};
use forerun_serve::nbd::{Exports, Overlay, Source, WritableFile, WrittenSource};

use super::NbdCommand;
use crate::servers::{NamedUrl, Upstreams};

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
    let (mut sources, mut names) = (Vec::new(), HashSet::new());
    for named in &command.urls {
        let (forerun, source) = open(command, named, upstreams.options()).await?;
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
    Ok(Exports::new(sources))
}

async fn open(
    command: &NbdCommand,
    named: &NamedUrl,
    options: &Options,
) -> Result<(Forerun, Source), Box<dyn Error>> {
    let new = |forerun: &Forerun| Source::new(forerun.clone(), named.name.clone());
    if command.writable {
        let found = Forerun::connect(&named.url, options.clone().with_learn(None)).await?;
        let file = Arc::new(WritableFile::open(&found).await?);
        let backend = Arc::new(WrittenSource(Arc::clone(&file)));
        let forerun = Forerun::over(backend, options.clone())?;
        let source = new(&forerun).with_file(file);
        return Ok((forerun, source));
    }
    let forerun = Forerun::connect(&named.url, options.clone()).await?;
    let mut source = new(&forerun);
    if let Some(path) = &command.overlay {
        let Some(object) = forerun.object() else {
            let shown = forerun::without_secrets(&named.url);
            return Err(format!(
                "--overlay keeps the writes to one object, and {shown} is a directory: name one object in it"
            )
            .into());
        };
        source = source.with_overlay(object, Overlay::open(path, &forerun.stat(object).await?)?);
    }
    Ok((forerun, source))
}
