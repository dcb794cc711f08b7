//! Measuring a program on the store, with one mount at a time.

use std::ffi::OsString;
use std::time::Duration;

use super::between::Between;
use super::catalog::Program;
use super::contender::{Contender, Source};
use super::data_set::DataSet;
use super::folder::Folder;
use super::program::{Ran, ReadingReport, run};
use crate::demo::process::StoreProcess;
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
    /// Whether mounts show the local directory.
    is_local: bool,
    /// The store, and the data set that it has.
    store: Option<(DataSet, StoreProcess)>,
    between: Option<Between>,
    time_max: Duration,
}

impl ProgramBench {
    /// Measures with the store, or with the local directory if `is_local`.
    pub(super) fn new(folder: Folder, is_local: bool, time_max: Duration) -> ProgramBench {
        ProgramBench { folder, is_local, store: None, between: None, time_max }
    }

    /// Starts the store of `set` in the place of another.
    async fn open_store(&mut self, set: DataSet) -> Result<(), String> {
        if self.is_local || self.store.as_ref().is_some_and(|(open, _)| *open == set) {
            return Ok(());
        }
        if let Some((_, other)) = self.store.take() {
            other.stop().await;
        }
        let store = StoreProcess::start(&["--directory".as_ref(), self.folder.data(set).as_ref()]).await?;
        self.store = Some((set, store));
        Ok(())
    }

    /// Mounts or serves as `contender` does, runs the program of `row`, and ends that: caches are
    /// empty at the start of each run.
    ///
    /// # Errors
    /// The step that failed.
    pub(super) async fn measure(&mut self, row: Program, contender: Contender) -> Result<RunOutcome, String> {
        if let Some(lack) = self.folder.lack(row, contender) {
            return Ok(RunOutcome::Unavailable(lack));
        }
        self.open_store(row.set).await?;
        let directory = self.folder.data(row.set);
        let source = match &self.store {
            Some((_, store)) => {
                store.prepare(row.set.link())?;
                Source::Store(store.address())
            }
            None => Source::Directory(&directory),
        };
        self.between = Between::start(contender, source, &self.folder).await?;
        let measured = self.run(row, contender).await;
        self.end_between().await?;
        let mut outcome = measured?;
        if let (RunOutcome::Measured(measured), Some((_, store))) = (&mut outcome, &self.store) {
            measured.fetched = (contender != Contender::Copy).then(|| store.bytes_sent()).transpose()?;
        }
        Ok(outcome)
    }

    /// Where the program of `row` finds the data: a directory or URLs.
    fn place(&self, row: Program, contender: Contender) -> OsString {
        match (&self.between, &self.store) {
            (Some(between), _) => between.place(),
            (None, Some((_, store))) if contender == Contender::Direct => {
                format!("http://{}", store.address()).into()
            }
            (None, _) => self.folder.data(row.set).into(),
        }
    }

    async fn run(&self, row: Program, contender: Contender) -> Result<RunOutcome, String> {
        let mut program = self.folder.program(row, &self.place(row, contender))?;
        let between = self.between.as_ref();
        if let Some(nfs) = between.and_then(Between::nfs) {
            program.env("FORERUN_BENCH_NFS", nfs);
        }
        let store = self.store.as_ref().and_then(|(_, store)| store.id());
        let own = [Some(std::process::id()), store].into_iter().flatten();
        let own: Vec<_> = own.chain(between.map(Between::ids).unwrap_or_default()).collect();
        let now = || (Processors::now(&own), store.and_then(seconds_of), between.and_then(Between::seconds));
        let before = now();
        let ran = run(program, self.time_max).await;
        let after = now();
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
            memory_peak: between.map(Between::memory_peak_bytes).transpose()?,
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
        if let Some((_, store)) = self.store {
            store.stop().await;
        }
        ended
    }
}
