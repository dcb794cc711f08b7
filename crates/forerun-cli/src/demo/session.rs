//! A series of measurements that cleans up after itself.

use std::future::Future;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::signal::unix::{SignalKind, signal};

use super::data::Contents;
use super::link::Shape;
use super::process::{MountOptions, MountProcess, StoreProcess};
use super::processors::Processors;
use super::reader::{MountedBucket, Pattern, Reading};

/// A measurement to make.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) policy: String,
    pub(crate) pattern: Pattern,
    pub(crate) shape: Shape,
    pub(crate) memory_bytes: u64,
    /// Whether the mount has learned the reads from an earlier mount.
    pub(crate) is_learned: bool,
    /// The limit of the reading time.
    pub(crate) time_max: Duration,
    pub(crate) random_reads: usize,
}

/// The result of a measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) reading: Reading,
    /// Bytes that the store sent from the mount to the unmount.
    pub(crate) bytes_fetched: u64,
    pub(crate) memory_peak_bytes: u64,
    /// Processors that other programs kept busy meanwhile.
    pub(crate) processors_taken: f64,
}

impl Measured {
    /// Millions of bytes read per second.
    pub(crate) fn mb_s(&self) -> f64 {
        self.reading.tally.bytes as f64 / 1e6 / self.reading.elapsed.as_secs_f64().max(1e-9)
    }

    /// Bytes fetched for each byte read.
    pub(crate) fn fetched_ratio(&self) -> f64 {
        self.bytes_fetched as f64 / self.reading.tally.bytes.max(1) as f64
    }

    pub(crate) fn memory_peak_mb(&self) -> f64 {
        self.memory_peak_bytes as f64 / 1e6
    }

    pub(crate) fn is_correct(&self) -> bool {
        self.reading.tally.wrong_reads == 0
    }
}

/// The costs of a mount, and the disturbance by other programs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MountCosts {
    memory_peak_bytes: u64,
    processors_taken: f64,
}

/// The store, and the mount of the current run.
#[derive(Debug)]
pub(crate) struct Session {
    contents: Arc<Contents>,
    store: StoreProcess,
    mount: Option<MountProcess>,
}

impl Session {
    /// Starts a store whose large objects have `bytes` bytes, and lets `work` measure. Ends all
    /// processes afterwards, also after a signal.
    ///
    /// # Errors
    /// The failure of `work`, or the signal.
    pub(crate) fn with<T>(
        bytes: u64,
        work: impl AsyncFnOnce(&mut Session) -> Result<T, String>,
    ) -> Result<T, String> {
        on_threads_of_its_own(async {
            let stop = stop_asked()?;
            let store = StoreProcess::start(&["--size".as_ref(), bytes.to_string().as_ref()]).await?;
            let mut session = Session { contents: Arc::new(Contents::new(bytes)), store, mount: None };
            let done = tokio::select! {
                done = work(&mut session) => done,
                () = stop => Err("interrupted".to_owned()),
            };
            let closed = session.close().await;
            done.and_then(|value| closed.map(|()| value))
        })
    }

    /// The contents of the store's objects.
    pub(crate) fn contents(&self) -> &Contents {
        &self.contents
    }

    /// The store's address, behind a link like `shape`.
    ///
    /// # Errors
    /// The step that failed.
    pub(crate) fn store(&self, shape: Shape) -> Result<SocketAddr, String> {
        self.store.prepare(shape).map(|()| self.store.address())
    }

    /// Mounts, reads, unmounts: caches are empty at the start of each run.
    ///
    /// # Errors
    /// The step that failed.
    pub(crate) async fn measure(&mut self, run: &Run) -> Result<Measured, String> {
        if !run.is_learned {
            return self.measure_once(run, None).await;
        }
        let directory = tempfile::tempdir().map_err(|error| format!("a directory for a profile: {error}"))?;
        let profile = directory.path().join("profile");
        self.measure_once(run, Some(&profile)).await?;
        self.measure_once(run, Some(&profile)).await
    }

    async fn measure_once(&mut self, run: &Run, profile: Option<&Path>) -> Result<Measured, String> {
        let options = MountOptions { policy: &run.policy, memory_bytes: run.memory_bytes, profile };
        let (pattern, random_reads, time_max) = (run.pattern, run.random_reads, run.time_max);
        let (reading, costs) = self
            .mounted(run.shape, options, move |directory, contents| {
                let until = Instant::now() + time_max;
                pattern.read(MountedBucket { directory, contents, until }, random_reads)
            })
            .await?;
        let MountCosts { memory_peak_bytes, processors_taken } = costs;
        Ok(Measured { reading, bytes_fetched: self.store.bytes_sent()?, memory_peak_bytes, processors_taken })
    }

    /// Mounts, lets `work` use the mount, and unmounts.
    ///
    /// # Errors
    /// The step that failed, in `work` or besides.
    pub(crate) async fn mounted<T: Send + 'static>(
        &mut self,
        shape: Shape,
        options: MountOptions<'_>,
        work: impl FnOnce(&Path, &Contents) -> Result<T, String> + Send + 'static,
    ) -> Result<(T, MountCosts), String> {
        let mount = MountProcess::start(self.store(shape)?, options).await?;
        let own: Vec<_> =
            [Some(std::process::id()), self.store.id(), mount.id()].into_iter().flatten().collect();
        let directory = mount.directory().to_owned();
        self.mount = Some(mount);

        let contents = Arc::clone(&self.contents);
        let before = Processors::now(&own);
        let done = tokio::task::spawn_blocking(move || work(&directory, &contents)).await;
        let done = done.map_err(|error| format!("the reader: {error}"))?;
        let processors_taken = match (before, Processors::now(&own)) {
            (Some(before), Some(after)) => after.used_by_others_since(&before),
            _ => 0.0,
        };
        let memory = self.mount.as_ref().map_or(Ok(0), MountProcess::memory_peak_bytes);
        self.unmount().await?;
        Ok((done?, MountCosts { memory_peak_bytes: memory?, processors_taken }))
    }

    async fn unmount(&mut self) -> Result<(), String> {
        match &mut self.mount {
            Some(mount) => {
                mount.stop().await?;
                self.mount = None;
                Ok(())
            }
            None => Ok(()),
        }
    }

    async fn close(mut self) -> Result<(), String> {
        let unmounted = self.unmount().await;
        self.store.stop().await;
        unmounted
    }
}

/// Runs `work`, and abandons threads that do not end with it.
pub(crate) fn on_threads_of_its_own<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = threads.map_err(|error| format!("starting threads: {error}"))?;
    let done = runtime.block_on(work);
    // A reader that hangs must not keep the program from ending.
    runtime.shutdown_background();
    done
}

/// Listens from now on. The future waits for the first signal.
pub(crate) fn stop_asked() -> Result<impl Future<Output = ()>, String> {
    let listen = |kind| signal(kind).map_err(|error| format!("listening for signals: {error}"));
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    let mut hangup = listen(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}
