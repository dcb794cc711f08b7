//! The handshake with a client, over its stream.

use std::io;
use std::sync::Arc;

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::super::exports::Exports;
use super::super::open::OpenExport;
use super::super::protocol::{Broken, Handshake, Session, Step};
use crate::Tls;
use crate::listener::Stream;

/// The outcome of a handshake.
pub(in super::super) enum Greeted {
    /// Requests come next; the first may be here already.
    Begun {
        stream: Box<dyn Stream>,
        export: Arc<OpenExport>,
        session: Session,
        input: BytesMut,
    },
    /// The client wanted no more than to ask.
    Left,
    Broken(Broken),
}

/// Lets the client on `stream` choose one of `exports`, over `tls` if the server has it.
///
/// # Errors
/// If the stream fails.
pub(in super::super) async fn greet(
    mut stream: Box<dyn Stream>,
    exports: &Exports,
    tls: Option<&Tls>,
) -> io::Result<Greeted> {
    let (mut input, mut output) = (BytesMut::new(), Vec::new());
    let new = if tls.is_some() { Handshake::with_tls } else { Handshake::new };
    let mut handshake = new(&mut output);
    let mut export = None;
    loop {
        let (step, was_asked) = match handshake.step(&mut input, &mut output) {
            Ok(Step::Find(name)) => {
                export = find(exports, &name).await;
                (handshake.found(export.as_deref().map(|export| &export.shown), &mut output), true)
            }
            Ok(Step::List) => {
                handshake.listed(list(exports).await.as_deref(), &mut output);
                (Ok(Step::Receive), true)
            }
            step => (step, false),
        };
        stream.write_all(&output).await?;
        stream.flush().await?;
        output.clear();
        match (step, &export) {
            // They would pass for encrypted ones.
            (Ok(Step::BeginTls), _) if !input.is_empty() => {
                return Ok(Greeted::Broken(Broken::BytesBeforeTls));
            }
            (Ok(Step::BeginTls), _) => {
                if let Some(tls) = tls {
                    stream = tls.accept(stream).await?;
                }
            }
            // More may be here already.
            (Ok(Step::Receive), _) if was_asked => {}
            (Ok(Step::Receive), _) => {
                if stream.read_buf(&mut input).await? == 0 {
                    return Ok(Greeted::Left);
                }
            }
            (Ok(Step::Begin(session)), Some(export)) => {
                return Ok(Greeted::Begun { stream, export: Arc::clone(export), session, input });
            }
            (Ok(_), _) => return Ok(Greeted::Left),
            (Err(broken), _) => return Ok(Greeted::Broken(broken)),
        }
    }
}

async fn list(exports: &Exports) -> Option<Vec<String>> {
    let names = exports.names().await;
    names
        .inspect_err(|error| {
            tracing::warn!(target: "forerun::nbd", "a client gets no list of exports: {error}");
        })
        .ok()
}

async fn find(exports: &Exports, name: &str) -> Option<Arc<OpenExport>> {
    exports.find(name).await.unwrap_or_else(|error| {
        tracing::warn!(target: "forerun::nbd", "a client does not get the export {name:?}: {error}");
        None
    })
}
