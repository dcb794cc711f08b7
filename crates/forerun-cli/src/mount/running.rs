//! A mount from its start to its end.

use std::error::Error;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use forerun::Forerun;
use forerun_serve::fuse::Mount;
use tokio::runtime::{Builder, Runtime};

use super::end::{Stop, unmount};
use super::place::Place;
use super::service::{self, Service};
use super::{Settings, daemon};
use crate::explain::{Socket, Subject};
use crate::memory::{self, Following, allocator};
use crate::print::say;
use crate::run;
use crate::servers::Monitoring;

/// Mounts `url` on `directory`, and waits for the end of the mount.
///
/// # Errors
/// If it cannot be mounted, or ends badly.
pub(super) fn serve(url: &str, directory: &Path, settings: &Settings) -> Result<ExitCode, Box<dyn Error>> {
    run::end_with_run()?;
    allocator::keep_little();
    settings.log.start()?;
    let service = Service::new()?;
    let place = Place::new(directory)?;
    if let Some(doubt) = memory::doubt(settings.engine.memory.bytes) {
        say(&doubt);
    }
    let monitoring = settings.monitoring.start("mount")?;
    let forerun = Forerun::connect_blocking(url, settings.engine(&monitoring))?;
    settings.engine.check_users()?;
    settings.engine.weigh(&forerun);
    let is_local = forerun.url().starts_with("file:");
    check_passthrough(settings, &forerun, is_local)?;

    // From here on a signal unmounts; until here there is nothing to undo.
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let stop = {
        let _context = runtime.enter();
        Stop::new()?
    };
    let _following = Following::start(settings.engine.memory, vec![forerun.clone()])?;
    let mount = place.mount(forerun.clone(), settings.kernel(is_local, &monitoring))?;
    monitoring.ready(&settings.engine, [&forerun]);
    greet(url, settings, &forerun, &mount, &monitoring, &runtime);
    {
        let _context = runtime.enter();
        run::follow_log_level()?;
    }
    if daemon::is_daemon() {
        daemon::ready()?;
    }
    if let Some(service) = &service {
        service.ready(&format!("{} on {}", forerun.url(), mount.directory().display()));
    }
    runtime.block_on(async {
        tokio::select! {
            () = stop.or_end_of(&mount) => {}
            () = service::watch(service.as_ref(), answers(&forerun, mount.directory())) => {}
        }
    });
    monitoring.drain();
    service.iter().for_each(|service| service.stopping("unmounting"));
    let unmounted = unmount(mount);
    // Also if it was in use, and a program keeps it open until this ends.
    forerun.save_learned()?;
    unmounted?;
    Ok(ExitCode::SUCCESS)
}

/// Asks whether the kernel gets an answer from the mount, and the engine is free to give one. The call
/// never comes from a cache. A server of /dev/fd/N does not know the directory, so only the engine is asked.
fn answers(forerun: &Forerun, directory: &Path) -> impl Fn() -> bool + Clone + Send + 'static {
    let (forerun, directory) = (forerun.clone(), directory.to_owned());
    move || {
        forerun.memory_bytes();
        directory.starts_with("/dev/fd") || rustix::fs::statfs(&directory).is_ok()
    }
}

fn check_passthrough(settings: &Settings, forerun: &Forerun, is_local: bool) -> Result<(), String> {
    if !settings.passthrough || is_local {
        return Ok(());
    }
    let url = forerun.url();
    Err(format!("--passthrough needs a local directory, and {url} is not one: leave the option out"))
}

/// Says that `mount` can be used, and begins to answer `forerun explain`.
fn greet(
    url: &str,
    settings: &Settings,
    forerun: &Forerun,
    mount: &Mount,
    monitoring: &Monitoring,
    runtime: &Runtime,
) {
    let _context = runtime.enter();
    // A user who reads that it is mounted may ask at once.
    let socket = Socket::new();
    say(&format!(
        "mounted {} on {} (policy {}, memory {}{})",
        forerun.url(),
        mount.directory().display(),
        settings.engine.policy,
        settings.engine.memory,
        monitoring.shown()
    ));
    if let Some(why) = mount.not_passed() {
        say(&format!("--passthrough is not used: {why}"));
    }
    let subject = Subject {
        forerun: forerun.clone(),
        url: forerun::without_secrets(url),
        directory: mount.directory().to_owned(),
        policy: settings.engine.policy.clone(),
        since: Instant::now(),
    };
    explain_itself(socket, subject);
}

/// Answers `forerun explain` for as long as the runtime that this is called within. A mount or a server
/// is of use without.
pub(crate) fn explain_itself(socket: io::Result<Socket>, subject: Subject) {
    match socket {
        Ok(socket) => drop(tokio::spawn(socket.answer(subject))),
        Err(error) => {
            tracing::warn!(target: "forerun::mount", "`forerun explain` will not find this mount: {error}")
        }
    }
}
