//! A server from its start to its end.

use std::collections::HashSet;
use std::error::Error;
use std::process::ExitCode;

use forerun_serve::Listener;
use forerun_serve::nbd::{Exports, Server, Source};
use tokio::runtime::Builder;

use super::NbdCommand;
use crate::mount::service::{self, Service};
use crate::mount::{Stop, allocator, memory};
use crate::print::say;
use crate::servers::{Upstreams, sockets};
use crate::units::show_size;

/// The port of the protocol.
const PORT: u16 = 10809;

/// Serves as `command` says, until a signal comes.
///
/// # Errors
/// If an object or a socket cannot be used.
pub(super) fn serve(command: &NbdCommand) -> Result<ExitCode, Box<dyn Error>> {
    // Before anything else has descriptors.
    let inherited = sockets::inherited()?;
    allocator::keep_little();
    command.log.start()?;
    if let Some(doubt) = memory::doubt(command.engine.memory) {
        say(&doubt);
    }
    let runtime = Builder::new_multi_thread().thread_name("forerun").enable_all().build()?;
    let handle = runtime.handle().clone();
    runtime.block_on(async move {
        let address = command.listen.as_deref().map(|address| (address, PORT));
        let listeners = sockets::listeners(inherited, command.unix.as_deref(), address).await?;
        if listeners.is_empty() {
            return Err("there is no socket to listen at: give --unix PATH or --listen ADDR".into());
        }
        let service = Service::new()?;
        let upstreams =
            Upstreams::connect(&command.urls, &command.engine, command.metadata_ttl, &handle).await?;
        let stop = Stop::new()?;
        let exports = exports(&upstreams)?;
        greet(command, &upstreams, &exports, &listeners).await?;
        if let Some(service) = &service {
            service.ready(&upstreams.shown());
        }
        let ending = async {
            stop.signal().await;
            service.iter().for_each(|service| service.stopping("answering the last requests"));
        };
        let server = Server::new(exports);
        tokio::select! {
            () = server.serve(listeners, ending) => {}
            () = service::watch(service.as_ref(), upstreams.answers()) => {}
        }
        upstreams.save_learned()?;
        Ok(ExitCode::SUCCESS)
    })
}

fn exports(upstreams: &Upstreams<'_>) -> Result<Exports, Box<dyn Error>> {
    let (mut sources, mut names) = (Vec::new(), HashSet::new());
    for (named, forerun) in upstreams.iter() {
        let source = Source::new(forerun.clone(), upstreams.memory_bytes(), named.name.clone());
        if let Some(name) = source.single()
            && !names.insert(name.to_owned())
        {
            return Err(
                format!("two exports are called {name:?}: give one another name, as in NAME=URL").into()
            );
        }
        sources.push(source);
    }
    Ok(Exports::new(sources))
}

/// Says what is served where, and begins to answer `forerun explain`.
async fn greet(
    command: &NbdCommand,
    upstreams: &Upstreams<'_>,
    exports: &Exports,
    listeners: &[Listener],
) -> Result<(), Box<dyn Error>> {
    // A directory that cannot be listed is told now, and not to the first client.
    let count = exports.names().await?.len();
    let uris: Vec<String> = listeners.iter().map(Listener::nbd_uri).collect::<Result<_, _>>()?;
    // A user who reads that it serves may ask at once.
    upstreams.explain_at(&uris[0]);
    let exports = if count == 1 { "1 export".to_owned() } else { format!("{count} exports") };
    say(&format!(
        "serves {} at {} ({exports}, policy {}, memory {})",
        upstreams.shown(),
        uris.join(" and "),
        command.engine.policy,
        show_size(command.engine.memory)
    ));
    Ok(())
}
