//! The two stores with their mounts, and all their readers.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ValueEnum;

use super::victims::Victims;
use crate::demo::data::Contents;
use crate::demo::link::Shape;
use crate::demo::process::{MountOptions, MountProcess, Ready, StoreProcess, this_program};
use crate::demo::reader::{MountedBucket, play_steadily};
use crate::demo::store::{Attack, BUCKET};

const SIZE: u64 = 1 << 30;
const MEMORY_BYTES: u64 = 256 << 20;
/// The file of the paced readers.
const FILE: &str = "one.bin";
const BYTES_PER_S: u64 = 100_000_000;
/// The time until the attack is under way.
const HEAD_START: Duration = Duration::from_secs(1);

/// The result of a paced reader.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Kept {
    /// The share of its pace that it kept.
    pub(super) share: f64,
    pub(super) is_right: bool,
}

/// The result of one attack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AttackOutcome {
    pub(super) same_mount: Kept,
    pub(super) other_mount: Kept,
    /// The longest time for a killed program to end.
    pub(super) kill: Duration,
    /// The number of programs that ended by themselves.
    pub(super) ended: u64,
    /// The peak memory of the process that mounts the bad store, in bytes.
    pub(super) memory_peak: u64,
}

/// A store and its mount.
#[derive(Debug)]
pub(super) struct MountedStore {
    store: StoreProcess,
    mount: MountProcess,
}

impl MountedStore {
    /// Measures paced readers of two mounts while `attack` hits one of them.
    ///
    /// # Errors
    /// The step that failed.
    pub(super) async fn measure(attack: Option<Attack>, time: Duration) -> Result<AttackOutcome, String> {
        let mut good = MountedStore::start(None).await?;
        let mut bad = MountedStore::start(attack).await?;
        let measured = MountedStore::measure_both(&good, &bad, attack, time).await;
        // Stops both, even if the first fails.
        let stopped = [good.mount.stop().await, bad.mount.stop().await];
        good.store.stop().await;
        bad.store.stop().await;
        stopped.into_iter().collect::<Result<(), _>>()?;
        measured
    }

    async fn measure_both(
        good: &MountedStore,
        bad: &MountedStore,
        attack: Option<Attack>,
        time: Duration,
    ) -> Result<AttackOutcome, String> {
        let victims = attack.map(|attack| Victims::start(attack.victim(), bad.mount.directory()));
        tokio::time::sleep(HEAD_START).await;
        let contents = Arc::new(Contents::new(SIZE));
        let until = Instant::now() + time;
        let play = |stand: &MountedStore| {
            let directory = stand.mount.directory().to_owned();
            let contents = Arc::clone(&contents);
            tokio::task::spawn_blocking(move || play(directory, &contents, until))
        };
        let (same_mount, other_mount) = tokio::join!(play(bad), play(good));
        let (kill, ended) = match victims {
            Some(victims) => victims.kill().await?,
            None => (Duration::ZERO, 0),
        };
        let ran = |kept: Result<Result<Kept, String>, _>| {
            kept.map_err(|error: tokio::task::JoinError| format!("a reader: {error}"))?
        };
        let memory_peak = bad.mount.memory_peak_bytes()?;
        Ok(AttackOutcome {
            same_mount: ran(same_mount)?,
            other_mount: ran(other_mount)?,
            kill,
            ended,
            memory_peak,
        })
    }

    async fn start(attack: Option<Attack>) -> Result<MountedStore, String> {
        let size = SIZE.to_string();
        let mut options: Vec<&OsStr> = vec!["--size".as_ref(), size.as_ref()];
        let name = attack.and_then(|attack| attack.to_possible_value());
        if let Some(name) = &name {
            options.extend([OsStr::new("--attack"), name.get_name().as_ref()]);
        }
        let store = StoreProcess::start(&options).await?;
        store.prepare(Shape::default())?;
        let mount = if attack.is_some_and(Attack::is_of_a_web_server) {
            let mut program = this_program()?;
            program.args(["mount", "--memory", &MEMORY_BYTES.to_string()]);
            program.arg(format!("http://{}/{BUCKET}/", store.address()));
            MountProcess::run(program, Ready::Told).await?
        } else {
            let options = MountOptions { policy: "adaptive", memory_bytes: MEMORY_BYTES, profile: None };
            MountProcess::start(store.address(), options).await?
        };
        Ok(MountedStore { store, mount })
    }
}

/// Reads [`FILE`] at its pace until `until`.
fn play(directory: PathBuf, contents: &Contents, until: Instant) -> Result<Kept, String> {
    let start = Instant::now();
    let mounted = MountedBucket { directory: &directory, contents, until };
    let tally = play_steadily(FILE, BYTES_PER_S, mounted)?;
    let due = BYTES_PER_S as f64 * start.elapsed().as_secs_f64();
    Ok(Kept { share: tally.bytes as f64 / due, is_right: tally.wrong_reads == 0 })
}
