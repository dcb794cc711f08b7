//! The handshake with a client, over its stream.

use std::io;
use std::sync::Arc;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::super::exports::Exports;
use super::super::open::OpenExport;
use super::super::protocol::{Broken, Handshake, Session, Step};

/// The outcome of a handshake.
#[derive(Debug)]
pub(in super::super) enum Greeted {
    /// Requests come next; the first may be here already.
    Begun {
        export: Arc<OpenExport>,
        session: Session,
        input: BytesMut,
    },
    /// The client wanted no more than to ask.
    Left,
    Broken(Broken),
}

/// Lets the client on `stream` choose one of `exports`.
///
/// # Errors
/// If the stream fails.
pub(in super::super) async fn greet<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    exports: &Exports,
) -> io::Result<Greeted> {
    let (mut input, mut output) = (BytesMut::new(), Vec::new());
    let mut handshake = Handshake::new(&mut output);
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
        output.clear();
        match (step, &export) {
            // More may be here already.
            (Ok(Step::Receive), _) if was_asked => {}
            (Ok(Step::Receive), _) => {
                if stream.read_buf(&mut input).await? == 0 {
                    return Ok(Greeted::Left);
                }
            }
            (Ok(Step::Begin(session)), Some(export)) => {
                return Ok(Greeted::Begun { export: Arc::clone(export), session, input });
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
