//! A server from its start to its end.

use std::error::Error;
use std::process::ExitCode;

use forerun_serve::http::{self, AccessLog, Credentials};
use forerun_serve::{Buckets, Limits, Tls, nfs};
use futures::FutureExt;
use tokio::runtime::Builder;

use super::ServeCommand;
use super::listening::Listening;
use crate::memory::{self, allocator};
use crate::mount::Stop;
use crate::mount::service::{self, Service};
use crate::print::say;
use crate::servers::{Monitoring, NamedUrl, Upstreams, sockets, wait_for_end};

/// Serves as `command` says, until a signal comes.
///
/// # Errors
/// If an object, a file or a socket cannot be used.
pub(super) fn serve(command: &ServeCommand) -> Result<ExitCode, Box<dyn Error>> {
    // Before anything else has descriptors.
    let inherited = sockets::inherited()?;
    sockets::allow_many_clients();
    allocator::keep_little();
    command.log.start()?;
    if let Some(doubt) = memory::doubt(command.engine.memory.bytes) {
        say(&doubt);
    }
    let credentials = credentials(command)?;
    let tls = command.tls.load()?;
    let monitoring = command.monitoring.start("serve")?;
    let runtime = Builder::new_multi_thread().thread_name("forerun").enable_all().build()?;
    let handle = runtime.handle().clone();
    runtime.block_on(async move {
        let listening = Listening::open(command, inherited).await?;
        let service = Service::new()?;
        let (engine, ttl) = (&command.engine, command.metadata_ttl);
        let mut upstreams = Upstreams::new(&command.urls, engine, ttl, &monitoring, &handle)?;
        upstreams.connect().await?;
        let _following = upstreams.follow_memory()?;
        let stop = Stop::new()?;
        let buckets = buckets(&upstreams)?;
        let shown = listening.shown(command)?;
        let tls_read_again = tls.clone();
        let servers = Servers::new(command, (credentials, tls), buckets, (&listening, &monitoring))?;
        monitoring.ready(&command.engine, upstreams.iter().map(|(_, forerun)| forerun));
        greet(command, &upstreams, &shown, &monitoring);
        if let Some(service) = &service {
            service.ready(&upstreams.shown());
        }
        let ending = async {
            wait_for_end(stop, tls_read_again, service.as_ref(), &upstreams.shown()).await;
            monitoring.drain();
            service.iter().for_each(|service| service.stopping("completing the last answers"));
        };
        tokio::select! {
            () = servers.serve(listening, ending) => {}
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

fn buckets(upstreams: &Upstreams<'_>) -> Result<Buckets, String> {
    let mut buckets = Buckets::default();
    for (named, forerun) in upstreams.iter() {
        buckets.add(&name_of(named), forerun.clone())?;
    }
    Ok(buckets)
}

/// A server for each protocol that has a socket.
struct Servers {
    http: Option<http::Server>,
    nfs: Option<nfs::Server>,
}

impl Servers {
    fn new(
        command: &ServeCommand,
        (credentials, tls): (Credentials, Option<Tls>),
        buckets: Buckets,
        (listening, monitoring): (&Listening, &Monitoring),
    ) -> Result<Servers, Box<dyn Error>> {
        let limits = Limits::default().with_connections(command.connections as usize);
        let limits = limits.with_idle(command.idle).with_stall(command.idle);
        let nfs = nfs::Server::new(buckets.clone()).with_limits(limits);
        let nfs =
            (!listening.nfs.is_empty()).then(|| nfs.with_requests(monitoring.requests(nfs::OPERATIONS)));
        if listening.http.is_empty() {
            return Ok(Servers { http: None, nfs });
        }
        let http = http::Server::new(buckets, credentials)?;
        let mut http = http.with_limits(limits).with_requests(monitoring.requests(http::OPERATIONS));
        if let Some(domain) = &command.domain {
            http = http.with_domain(domain.clone());
        }
        if let Some(tls) = tls {
            http = http.with_tls(tls);
        }
        if let Some(path) = &command.access_log {
            let log = AccessLog::open(path, command.access_log_form.into())
                .map_err(|error| format!("the access log {} cannot be opened: {error}", path.display()))?;
            http = http.with_log(log);
        }
        Ok(Servers { http: Some(http), nfs })
    }

    /// Serves until `stop`.
    async fn serve(&self, listening: Listening, stop: impl Future<Output = ()>) {
        let stop = stop.shared();
        let http = async {
            if let Some(server) = &self.http {
                server.serve(listening.http, stop.clone()).await;
            }
        };
        let nfs = async {
            if let Some(server) = &self.nfs {
                server.serve(listening.nfs, stop.clone()).await;
            }
        };
        tokio::join!(http, nfs);
    }
}

/// The name that was given, or the last part of the URL.
fn name_of(named: &NamedUrl) -> String {
    let url = named.url.split(['?', '#']).next().unwrap_or_default();
    let last = url.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    named.name.clone().unwrap_or_else(|| last.to_owned())
}

/// Says what is served where, and begins to answer `forerun explain`.
fn greet(command: &ServeCommand, upstreams: &Upstreams<'_>, places: &[String], monitoring: &Monitoring) {
    // A user who reads that it serves may ask at once.
    upstreams.explain_at(&places[0]);
    let names: Vec<String> = upstreams.iter().map(|(named, _)| name_of(named)).collect();
    say(&format!(
        "serves {} at {} (buckets {}, policy {}, memory {}{})",
        upstreams.shown(),
        places.join(" and "),
        names.join(", "),
        command.engine.policy,
        command.engine.memory,
        monitoring.shown()
    ));
}
