//! The mounts of a file, from the start of `forerun run` to its end.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::child::{self, Instruction, News};
use super::configuration::{Configuration, Mount};
use super::given::Given;
use crate::log;
use crate::mount::service::{Service, watchdog};
use crate::print::say;
use crate::status;

/// A mount whose process is kept.
struct KeptMount {
    mount: Mount,
    instruction: watch::Sender<Instruction>,
}

/// All mounts.
struct Keeper<'a> {
    service: Option<&'a Service>,
    kept: BTreeMap<PathBuf, KeptMount>,
    /// Targets with a process that can be used.
    ready: BTreeSet<PathBuf>,
    /// Targets that have neither been ready nor failed yet.
    starting: BTreeSet<PathBuf>,
    tasks: JoinSet<(PathBuf, bool)>,
    news: child::Sender,
}

/// Keeps the mounts of `configuration` until a signal ends them, or until users have unmounted them all.
///
/// # Errors
/// If signals cannot be received.
pub(super) async fn keep(
    file: &Path,
    given: &Given,
    configuration: Configuration,
    service: Option<&Service>,
) -> Result<ExitCode, Box<dyn Error>> {
    let (mut hangup, mut interrupt, mut terminate) =
        (signal(SignalKind::hangup())?, signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let (news, mut heard) = mpsc::unbounded_channel();
    let mut keeper = Keeper {
        service,
        kept: BTreeMap::new(),
        ready: BTreeSet::new(),
        starting: BTreeSet::new(),
        tasks: JoinSet::new(),
        news,
    };
    configuration.mounts.into_iter().for_each(|mount| keeper.start(mount));
    let mut ticks = watchdog().filter(|_| service.is_some()).map(|every| tokio::time::interval(every / 2));
    let mut is_well = true;
    while !keeper.kept.is_empty() {
        let tick = async {
            match &mut ticks {
                Some(ticks) => ticks.tick().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = tick => service.iter().for_each(|service| service.alive()),
            Some((target, news)) = heard.recv() => keeper.hear(target, &news),
            Some(Ok((target, ended_well))) = keeper.tasks.join_next() => {
                is_well &= ended_well;
                keeper.forget(&target);
            }
            _ = hangup.recv() => keeper.reload(file, given),
            _ = interrupt.recv() => break,
            _ = terminate.recv() => break,
        }
    }
    service.iter().for_each(|service| service.stopping("unmounting"));
    for kept in keeper.kept.values() {
        kept.end();
    }
    while let Some(ended) = keeper.tasks.join_next().await {
        is_well &= ended.is_ok_and(|(_, ended_well)| ended_well);
    }
    Ok(if is_well { ExitCode::SUCCESS } else { status::FAILED.into() })
}

impl KeptMount {
    /// Has it unmounted. Its task may have ended already.
    fn end(&self) {
        self.instruction.send_modify(|instruction| instruction.is_over = true);
    }

    /// Has its process log so much.
    fn log_with(&self, verbose: u8) {
        self.instruction
            .send_if_modified(|instruction| std::mem::replace(&mut instruction.verbose, verbose) != verbose);
    }
}

impl Keeper<'_> {
    fn start(&mut self, mount: Mount) {
        let (instruction, follow) = watch::channel(Instruction { is_over: false, verbose: mount.verbose });
        let (target, news, kept) = (mount.target.clone(), self.news.clone(), mount.clone());
        self.tasks.spawn(async move {
            let is_well = child::keep(&kept, follow, news).await;
            (kept.target, is_well)
        });
        self.starting.insert(target.clone());
        self.kept.insert(target, KeptMount { mount, instruction });
    }

    fn hear(&mut self, target: PathBuf, news: &News) {
        if !self.kept.contains_key(&target) {
            return;
        }
        self.starting.remove(&target);
        match news {
            News::Ready => drop(self.ready.insert(target)),
            News::Failed => drop(self.ready.remove(&target)),
        }
        self.report();
    }

    fn forget(&mut self, target: &Path) {
        self.kept.remove(target);
        self.starting.remove(target);
        self.ready.remove(target);
        self.report();
    }

    /// Tells the service manager, once every mount can be used or has failed.
    fn report(&self) {
        if self.starting.is_empty() {
            let shown = format!("{} of {} mounts can be used", self.ready.len(), self.kept.len());
            self.service.iter().for_each(|service| service.ready(&shown));
        }
    }

    /// Reads the file again. Mounts that it does not list any more are unmounted, and new ones mounted. The
    /// others log as much as it says now.
    fn reload(&mut self, file: &Path, given: &Given) {
        self.service.iter().for_each(|service| service.reloading("reading the file of mounts"));
        match Configuration::read(file, given) {
            Ok(configuration) => {
                log::change(configuration.settings.log.verbose);
                self.change_to(configuration.mounts);
            }
            Err(error) => say(&format!("nothing is changed: {error}")),
        }
        self.report();
    }

    fn change_to(&mut self, mounts: Vec<Mount>) {
        let is_listed = |target: &Path| mounts.iter().any(|mount| mount.target == target);
        let mut removed = 0;
        for (_, kept) in self.kept.iter().filter(|(target, _)| !is_listed(target)) {
            kept.end();
            removed += 1;
        }
        let mut added = 0;
        for mount in mounts {
            match self.kept.get(&mount.target) {
                None => {
                    self.start(mount);
                    added += 1;
                }
                Some(kept) if kept.instruction.borrow().is_over => {
                    say(&format!("{} is being unmounted: reload again after that", mount.target.display()));
                }
                Some(kept) => {
                    kept.log_with(mount.verbose);
                    if kept.mount.arguments != mount.arguments {
                        let shown = mount.target.display();
                        say(&format!(
                            "the mount on {shown} keeps its options: run `forerun unmount {shown}` and reload again"
                        ));
                    }
                }
            }
        }
        say(&format!("the file is read again: {added} mounts added, {removed} removed"));
    }
}
