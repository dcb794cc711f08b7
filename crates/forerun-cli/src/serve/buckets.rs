//! A server from its start to its end.

use std::error::Error;
use std::process::ExitCode;

use forerun_serve::http::{AccessLog, Buckets, Credentials, Limits, OPERATIONS, Server};
use forerun_serve::{Listener, Place};
use tokio::runtime::Builder;

use super::ServeCommand;
use crate::mount::service::{self, Service};
use crate::mount::{Stop, allocator, memory};
use crate::print::say;
use crate::servers::{Monitoring, NamedUrl, Upstreams, sockets};
use crate::units::show_size;

/// The port unless an address has one.
const PORT: u16 = 9100;

/// Serves as `command` says, until a signal comes.
///
/// # Errors
/// If an object, a file or a socket cannot be used.
pub(super) fn serve(command: &ServeCommand) -> Result<ExitCode, Box<dyn Error>> {
    // Before anything else has descriptors.
    let inherited = sockets::inherited()?;
    allocator::keep_little();
    command.log.start()?;
    if let Some(doubt) = memory::doubt(command.engine.memory) {
        say(&doubt);
    }
    let credentials = credentials(command)?;
    let monitoring = command.monitoring.start("serve", OPERATIONS)?;
    let runtime = Builder::new_multi_thread().thread_name("forerun").enable_all().build()?;
    let handle = runtime.handle().clone();
    runtime.block_on(async move {
        let listeners = listeners(command, inherited).await?;
        check_who_may_read(command, &listeners)?;
        let service = Service::new()?;
        let (engine, ttl) = (&command.engine, command.metadata_ttl);
        let mut upstreams = Upstreams::new(&command.urls, engine, ttl, &monitoring, &handle)?;
        upstreams.connect().await?;
        let stop = Stop::new()?;
        let server = server(command, credentials, &upstreams)?.with_requests(monitoring.requests());
        greet(command, &upstreams, &listeners, &monitoring)?;
        monitoring.ready(upstreams.iter().map(|(_, forerun)| forerun));
        if let Some(service) = &service {
            service.ready(&upstreams.shown());
        }
        let ending = async {
            stop.signal().await;
            monitoring.drain();
            service.iter().for_each(|service| service.stopping("completing the last answers"));
        };
        tokio::select! {
            () = server.serve(listeners, ending) => {}
            () = service::watch(service.as_ref(), upstreams.answers()) => {}
        }
        upstreams.save_learned()?;
        Ok(ExitCode::SUCCESS)
    })
}

fn credentials(command: &ServeCommand) -> Result<Credentials, Box<dyn Error>> {
    let Some(path) = &command.credentials else { return Ok(Credentials::default()) };
    forerun_backend::warn_if_others_read(path);
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("the credentials {shown} cannot be read: {error}"))?;
    Ok(Credentials::parse(&text).map_err(|error| format!("{shown}: {error}"))?)
}

async fn listeners(
    command: &ServeCommand,
    inherited: Vec<std::os::fd::OwnedFd>,
) -> Result<Vec<Listener>, Box<dyn Error>> {
    let wanted = command.http.as_deref().map(|address| sockets::at(address, PORT));
    let listeners = sockets::listeners(inherited, wanted).await?;
    if listeners.is_empty() {
        return Err("there is no socket to listen at: give --http ADDR or --http unix:PATH".into());
    }
    Ok(listeners)
}

/// Other computers read only if a user wants it.
fn check_who_may_read(command: &ServeCommand, listeners: &[Listener]) -> Result<(), Box<dyn Error>> {
    if command.public || command.credentials.is_some() {
        return Ok(());
    }
    for listener in listeners {
        if let Place::Tcp(address) = listener.place()?
            && !address.ip().is_loopback()
        {
            return Err(format!(
                "other computers reach {address}: give --credentials FILE, or --public if everybody may read"
            )
            .into());
        }
    }
    Ok(())
}

fn server(
    command: &ServeCommand,
    credentials: Credentials,
    upstreams: &Upstreams<'_>,
) -> Result<Server, Box<dyn Error>> {
    let mut buckets = Buckets::default();
    for (named, forerun) in upstreams.iter() {
        buckets.add(&name_of(named), forerun.clone(), upstreams.memory_bytes())?;
    }
    let limits = Limits::default().with_connections(command.connections as usize);
    let limits = limits.with_idle(command.idle).with_stall(command.idle);
    let server = Server::new(buckets, credentials).with_limits(limits);
    let Some(path) = &command.access_log else { return Ok(server) };
    let log = AccessLog::open(path, command.access_log_form.into())
        .map_err(|error| format!("the access log {} cannot be opened: {error}", path.display()))?;
    Ok(server.with_log(log))
}

/// The name that was given, or the last part of the URL.
fn name_of(named: &NamedUrl) -> String {
    let url = named.url.split(['?', '#']).next().unwrap_or_default();
    let last = url.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    named.name.clone().unwrap_or_else(|| last.to_owned())
}

/// Says what is served where, and begins to answer `forerun explain`.
fn greet(
    command: &ServeCommand,
    upstreams: &Upstreams<'_>,
    listeners: &[Listener],
    monitoring: &Monitoring,
) -> Result<(), Box<dyn Error>> {
    let mut places = Vec::new();
    for listener in listeners {
        places.push(sockets::shown(&listener.place()?));
    }
    // A user who reads that it serves may ask at once.
    upstreams.explain_at(&places[0]);
    let names: Vec<String> = upstreams.iter().map(|(named, _)| name_of(named)).collect();
    say(&format!(
        "serves {} at {} (buckets {}, policy {}, memory {}{})",
        upstreams.shown(),
        places.join(" and "),
        names.join(", "),
        command.engine.policy,
        show_size(command.engine.memory),
        monitoring.shown()
    ));
    Ok(())
}
