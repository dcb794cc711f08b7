//! A server from its start to its end.

use std::error::Error;
use std::process::ExitCode;
use std::thread::available_parallelism;

use forerun_serve::Listener;
use forerun_serve::nbd::{Exports, OPERATIONS, Server};
use tokio::runtime::{Builder, Runtime};

use super::{NbdCommand, sources};
use crate::memory::{self, allocator};
use crate::mount::Stop;
use crate::mount::service::{self, Service};
use crate::print::say;
use crate::servers::sockets::SocketName;
use crate::servers::{Monitoring, Upstreams, sockets, wait_for_end};

/// The port of the protocol.
const PORT: u16 = 10809;

/// Serves as `command` says, until a signal comes.
///
/// # Errors
/// If an object or a socket cannot be used.
pub(super) fn serve(command: &NbdCommand) -> Result<ExitCode, Box<dyn Error>> {
    // Before anything else has descriptors.
    let inherited = sockets::inherited()?;
    sockets::allow_many_clients();
    allocator::keep_little();
    command.log.start()?;
    if let Some(doubt) = memory::doubt(command.engine.memory.bytes) {
        say(&doubt);
    }
    let monitoring = command.monitoring.start("nbd")?;
    let runtime = threads()?;
    let handle = runtime.handle().clone();
    runtime.block_on(async move {
        let tls = command.tls.load()?;
        let listeners = sockets::listeners(inherited, wanted(command)).await?;
        if listeners.is_empty() {
            return Err("there is no socket to listen at: give --unix PATH or --listen ADDR".into());
        }
        let service = Service::new()?;
        let (engine, ttl) = (&command.engine, command.metadata_ttl);
        let urls = sources::urls(command)?;
        let mut upstreams = Upstreams::new(&urls, engine, ttl, &monitoring, &handle)?;
        let exports = sources::connect(command, &mut upstreams).await?;
        let _following = upstreams.follow_memory()?;
        let stop = Stop::new()?;
        monitoring.ready(&command.engine, upstreams.iter().map(|(_, forerun)| forerun));
        greet(command, &upstreams, &exports, &listeners, &monitoring).await?;
        if let Some(service) = &service {
            service.ready(&upstreams.shown());
        }
        let tls_read_again = tls.clone();
        let ending = async {
            wait_for_end(stop, tls_read_again, service.as_ref(), &upstreams.shown()).await;
            monitoring.drain();
            service.iter().for_each(|service| service.stopping("answering the last requests"));
        };
        let server = Server::new(exports).with_requests(monitoring.requests(OPERATIONS));
        let server = if let Some(tls) = tls { server.with_tls(tls) } else { server };
        tokio::select! {
            ended = server.serve(listeners, ending) => ended?,
            () = service::watch(service.as_ref(), upstreams.answers()) => {}
        }
        upstreams.save_learned()?;
        Ok(ExitCode::SUCCESS)
    })
}

/// A thread for each processor but one, which the clients need. Threads that share the work also wake each other for
/// nothing. On two processors, one thread reads 4 KiB from memory in two thirds of the time of two.
fn threads() -> std::io::Result<Runtime> {
    let processors = available_parallelism().map_or(1, |count| count.get());
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(processors.saturating_sub(1).max(1)).thread_name("forerun").enable_all().build()
}

/// The sockets that are asked for.
fn wanted(command: &NbdCommand) -> impl Iterator<Item = SocketName<'_>> {
    let path = command.unix.as_deref().map(SocketName::Path);
    path.into_iter().chain(command.listen.as_deref().map(|address| SocketName::Tcp(address, PORT)))
}

/// Says what is served where, and begins to answer `forerun explain`.
async fn greet(
    command: &NbdCommand,
    upstreams: &Upstreams<'_>,
    exports: &Exports,
    listeners: &[Listener],
    monitoring: &Monitoring,
) -> Result<(), Box<dyn Error>> {
    // A directory that cannot be listed is told now, and not to the first client.
    let count = exports.names().await?.len();
    let is_tls = command.tls.is_on();
    let uris: Vec<String> =
        listeners.iter().map(|listener| listener.nbd_uri(is_tls)).collect::<Result<_, _>>()?;
    // A user who reads that it serves may ask at once.
    upstreams.explain_at(&uris[0]);
    let exports = if count == 1 { "1 export".to_owned() } else { format!("{count} exports") };
    say(&format!(
        "serves {} at {} ({exports}, {}, policy {}, memory {}{})",
        upstreams.shown(),
        uris.join(" and "),
        writes(command),
        command.engine.policy,
        command.engine.memory,
        monitoring.shown()
    ));
    Ok(())
}

/// Where writes go, for the greeting.
fn writes(command: &NbdCommand) -> String {
    match &command.overlay {
        Some(path) => format!("writes go to {}", path.display()),
        None if command.writable => "writable".to_owned(),
        None => "read-only".to_owned(),
    }
}
