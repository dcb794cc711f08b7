//! Measuring a program on the store, with one mount at a time.

use std::path::Path;
use std::time::Duration;

use super::catalog::Program;
use super::contender::{Contender, Source};
use super::folder::Folder;
use super::program::{Ran, ReadingReport, run};
use crate::demo::link::Shape;
use crate::demo::process::{MountProcess, StoreProcess};
use crate::demo::processors::{Processors, seconds_of};

/// The figures of one run.
#[derive(Clone, Debug)]
pub(super) struct Figures {
    pub(super) reading: ReadingReport,
    /// Bytes that the store sent from the mount to the unmount.
    pub(super) fetched: Option<u64>,
    pub(super) memory_peak: Option<u64>,
    /// Processor seconds.
    pub(super) store: Option<f64>,
    pub(super) mount: Option<f64>,
    /// Processors that other programs kept busy meanwhile.
    pub(super) taken: f64,
}

/// The outcome of a run.
#[derive(Clone, Debug)]
pub(super) enum RunOutcome {
    Measured(Figures),
    TooSlow,
    Unavailable(String),
    /// The program ended with an error.
    Failed(String),
}

/// The processes beside the measured program.
#[derive(Debug)]
pub(super) struct ProgramBench {
    folder: Folder,
    /// None if mounts show the local directory.
    store: Option<StoreProcess>,
    mount: Option<MountProcess>,
    time_max: Duration,
}

impl ProgramBench {
    /// Starts a store, unless mounts show the local directory.
    ///
    /// # Errors
    /// The step that failed.
    pub(super) async fn new(
        folder: Folder,
        is_local: bool,
        time_max: Duration,
    ) -> Result<ProgramBench, String> {
        let store = match is_local {
            true => None,
            false => Some(StoreProcess::start(&["--directory".as_ref(), folder.data().as_ref()]).await?),
        };
        Ok(ProgramBench { folder, store, mount: None, time_max })
    }

    /// Mounts as `contender` does, runs the program of `row`, and unmounts: caches are empty at the
    /// start of each run.
    ///
    /// # Errors
    /// The step that failed.
    pub(super) async fn measure(&mut self, row: Program, contender: Contender) -> Result<RunOutcome, String> {
        let source = match &self.store {
            Some(store) => {
                store.prepare(Shape::default())?;
                Source::Store(store.address())
            }
            None => Source::Directory(self.folder.data()),
        };
        if let Some((program, ready)) = contender.mount(source)? {
            self.mount = Some(MountProcess::run(program, ready).await?);
        }
        let place = self.mount.as_ref().map_or(self.folder.data(), MountProcess::directory).to_owned();
        let measured = self.run(row, &place).await;
        self.unmount().await?;
        let mut outcome = measured?;
        if let (RunOutcome::Measured(measured), Some(store)) = (&mut outcome, &self.store) {
            measured.fetched = (contender != Contender::Copy).then(|| store.bytes_sent()).transpose()?;
        }
        Ok(outcome)
    }

    async fn run(&self, row: Program, place: &Path) -> Result<RunOutcome, String> {
        let store = self.store.as_ref().and_then(StoreProcess::id);
        let mount = self.mount.as_ref().and_then(MountProcess::id);
        let own: Vec<_> = [Some(std::process::id()), store, mount].into_iter().flatten().collect();
        let used = |id: Option<u32>| id.and_then(seconds_of);
        let before = (Processors::now(&own), used(store), used(mount));
        let ran = run(self.folder.program(row, place), self.time_max).await;
        let after = (Processors::now(&own), used(store), used(mount));
        let reading = match ran {
            Ok(Ran::Read(reading)) => reading,
            Ok(Ran::TooSlow) => return Ok(RunOutcome::TooSlow),
            Ok(Ran::Unavailable(why)) => return Ok(RunOutcome::Unavailable(why)),
            Err(why) => return Ok(RunOutcome::Failed(why)),
        };
        let taken = after.0.zip(before.0).map_or(0.0, |(after, before)| after.used_by_others_since(&before));
        let mounted = self.mount.as_ref();
        Ok(RunOutcome::Measured(Figures {
            reading,
            fetched: None,
            memory_peak: mounted.map(MountProcess::memory_peak_bytes).transpose()?,
            store: mounted.and(after.1.zip(before.1)).map(|(after, before)| after - before),
            mount: after.2.zip(before.2).map(|(after, before)| after - before),
            taken,
        }))
    }

    async fn unmount(&mut self) -> Result<(), String> {
        match self.mount.take() {
            Some(mut mount) => mount.stop().await,
            None => Ok(()),
        }
    }

    /// Ends all processes.
    ///
    /// # Errors
    /// A mount that remains.
    pub(super) async fn close(mut self) -> Result<(), String> {
        let unmounted = self.unmount().await;
        if let Some(store) = self.store {
            store.stop().await;
        }
        unmounted
    }
}
