//! A server from its start to its end.

use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

use forerun::Forerun;
use forerun_serve::nbd::{Exports, Listener, Server, Tls};
use tokio::runtime::Builder;

use super::{NbdCommand, sockets, sources};
use crate::explain::{Socket, Subject};
use crate::mount::running::explain_itself;
use crate::mount::service::{self, Service};
use crate::mount::{Stop, allocator, memory};
use crate::print::say;
use crate::units::show_size;

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
        let tls = tls(command)?;
        let listeners = sockets::listeners(command, inherited).await?;
        let service = Service::new()?;
        let (foreruns, exports) = sources::connect(command, &handle).await?;
        let stop = Stop::new()?;
        greet(command, &foreruns, &exports, &listeners).await?;
        if let Some(service) = &service {
            service.ready(&shown(command));
        }
        let engines = foreruns.clone();
        let answers = move || {
            // Each call takes the lock of its engine.
            engines.iter().for_each(|forerun| {
                forerun.memory_bytes();
            });
            true
        };
        let ending = async {
            stop.signal().await;
            service.iter().for_each(|service| service.stopping("answering the last requests"));
        };
        let server = Server::new(exports);
        let server = if let Some(tls) = tls { server.with_tls(tls) } else { server };
        tokio::select! {
            ended = server.serve(listeners, ending) => ended?,
            () = service::watch(service.as_ref(), answers) => {}
        }
        foreruns.iter().try_for_each(Forerun::save_learned)?;
        Ok(ExitCode::SUCCESS)
    })
}

/// The certificate, if there is one.
fn tls(command: &NbdCommand) -> Result<Option<Tls>, Box<dyn Error>> {
    let (Some(certificate), Some(key)) = (&command.tls_certificate, &command.tls_key) else {
        return Ok(None);
    };
    Ok(Some(Tls::load(certificate, key, command.tls_client_ca.as_deref())?))
}

/// Says what is served where, and begins to answer `forerun explain`.
async fn greet(
    command: &NbdCommand,
    foreruns: &[Forerun],
    exports: &Exports,
    listeners: &[Listener],
) -> Result<(), Box<dyn Error>> {
    // A directory that cannot be listed is told now, and not to the first client.
    let count = exports.names().await?.len();
    let is_tls = command.tls_certificate.is_some();
    let uris: Vec<String> =
        listeners.iter().map(|listener| listener.uri(is_tls)).collect::<Result<_, _>>()?;
    // A user who reads that it serves may ask at once. An answer is about one engine.
    if let [forerun] = foreruns {
        let subject = Subject {
            forerun: forerun.clone(),
            url: shown(command),
            directory: uris[0].clone().into(),
            policy: command.engine.policy.clone(),
            memory_bytes_max: command.engine.memory,
            since: Instant::now(),
        };
        explain_itself(Socket::new(), subject);
    }
    let exports = if count == 1 { "1 export".to_owned() } else { format!("{count} exports") };
    say(&format!(
        "serves {} at {} ({exports}, {}, policy {}, memory {})",
        shown(command),
        uris.join(" and "),
        writes(command),
        command.engine.policy,
        show_size(command.engine.memory)
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

/// The URLs, without secrets.
fn shown(command: &NbdCommand) -> String {
    let urls: Vec<String> = command.urls.iter().map(|named| forerun::without_secrets(&named.url)).collect();
    urls.join(", ")
}
