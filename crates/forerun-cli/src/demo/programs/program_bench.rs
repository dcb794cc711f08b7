//! Measuring a program on the store, with one mount at a time.

use std::ffi::OsString;
use std::time::Duration;

use super::catalog::Program;
use super::contender::{Contender, MEMORY, Source};
use super::folder::Folder;
use super::program::{Ran, ReadingReport, run};
use crate::demo::link::Shape;
use crate::demo::process::{HeardProcess, MountProcess, ServeProcess, StoreProcess};
use crate::demo::processors::{Processors, seconds_of};

/// The figures of one run.
#[derive(Clone, Debug)]
pub(super) struct Figures {
    pub(super) reading: ReadingReport,
    /// Bytes that the store sent from the mount to the unmount, or during the life of a server.
    pub(super) fetched: Option<u64>,
    pub(super) memory_peak: Option<u64>,
    /// Processor seconds.
    pub(super) store: Option<f64>,
    /// Of a mount or a server.
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
    between: Option<Between>,
    time_max: Duration,
}

/// The process between the store and the program.
#[derive(Debug)]
enum Between {
    Mount(MountProcess),
    Server(ServeProcess),
}

impl Between {
    fn process(&self) -> &HeardProcess {
        match self {
            Between::Mount(mount) => mount.process(),
            Between::Server(server) => server.process(),
        }
    }

    async fn stop(&mut self) -> Result<(), String> {
        match self {
            Between::Mount(mount) => mount.stop().await,
            Between::Server(server) => server.stop().await,
        }
    }
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
        Ok(ProgramBench { folder, store, between: None, time_max })
    }

    /// Mounts or serves as `contender` does, runs the program of `row`, and ends that: caches are
    /// empty at the start of each run.
    ///
    /// # Errors
    /// The step that failed.
    pub(super) async fn measure(&mut self, row: Program, contender: Contender) -> Result<RunOutcome, String> {
        if let Some(lack) = self.folder.lack(row) {
            return Ok(RunOutcome::Unavailable(lack));
        }
        let source = match &self.store {
            Some(store) => {
                store.prepare(Shape::default())?;
                Source::Store(store.address())
            }
            None => Source::Directory(self.folder.data()),
        };
        self.between = match (contender, source) {
            (Contender::Served, Source::Store(address)) => {
                Some(Between::Server(ServeProcess::start(address, MEMORY).await?))
            }
            _ => match contender.mount(source)? {
                Some((program, ready)) => Some(Between::Mount(MountProcess::run(program, ready).await?)),
                None => None,
            },
        };
        let measured = self.run(row, contender).await;
        self.end_between().await?;
        let mut outcome = measured?;
        if let (RunOutcome::Measured(measured), Some(store)) = (&mut outcome, &self.store) {
            measured.fetched = (contender != Contender::Copy).then(|| store.bytes_sent()).transpose()?;
        }
        Ok(outcome)
    }

    /// Where the program finds the data: a directory or a URL.
    fn place(&self, contender: Contender) -> OsString {
        match (&self.between, &self.store) {
            (Some(Between::Mount(mount)), _) => mount.directory().into(),
            (Some(Between::Server(server)), _) => server.http().into(),
            (None, Some(store)) if contender == Contender::Direct => {
                format!("http://{}", store.address()).into()
            }
            (None, _) => self.folder.data().into(),
        }
    }

    async fn run(&self, row: Program, contender: Contender) -> Result<RunOutcome, String> {
        let mut program = self.folder.program(row, &self.place(contender))?;
        if let Some(Between::Server(server)) = &self.between {
            program.env("FORERUN_BENCH_NFS", server.nfs());
        }
        let store = self.store.as_ref().and_then(StoreProcess::id);
        let between = self.between.as_ref().map(Between::process);
        let between_id = between.and_then(HeardProcess::id);
        let own: Vec<_> = [Some(std::process::id()), store, between_id].into_iter().flatten().collect();
        let used = |id: Option<u32>| id.and_then(seconds_of);
        let before = (Processors::now(&own), used(store), used(between_id));
        let ran = run(program, self.time_max).await;
        let after = (Processors::now(&own), used(store), used(between_id));
        let reading = match ran {
            Ok(Ran::Read(reading)) => reading,
            Ok(Ran::TooSlow) => return Ok(RunOutcome::TooSlow),
            Ok(Ran::Unavailable(why)) => return Ok(RunOutcome::Unavailable(why)),
            Err(why) => return Ok(RunOutcome::Failed(why)),
        };
        let taken = after.0.zip(before.0).map_or(0.0, |(after, before)| after.used_by_others_since(&before));
        let is_store_read = contender != Contender::Copy;
        Ok(RunOutcome::Measured(Figures {
            reading,
            fetched: None,
            memory_peak: between.map(HeardProcess::memory_peak_bytes).transpose()?,
            store: after.1.zip(before.1).filter(|_| is_store_read).map(|(after, before)| after - before),
            mount: after.2.zip(before.2).map(|(after, before)| after - before),
            taken,
        }))
    }

    async fn end_between(&mut self) -> Result<(), String> {
        match self.between.take() {
            Some(mut between) => between.stop().await,
            None => Ok(()),
        }
    }

    /// Ends all processes.
    ///
    /// # Errors
    /// A mount that remains.
    pub(super) async fn close(mut self) -> Result<(), String> {
        let ended = self.end_between().await;
        if let Some(store) = self.store {
            store.stop().await;
        }
        ended
    }
}
