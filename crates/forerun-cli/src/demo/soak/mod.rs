//! `forerun bench soak`: whether a mount's memory grows in long use.

mod server;

use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::process::{MountProcess, Ready, this_program};
use super::session::{on_threads_of_its_own, stop_asked};
use crate::print::{show, tell};
use crate::progress::Progress;
use crate::units::parse_duration;

const READERS: u64 = 4;
/// The number of memory samples.
const SAMPLES: u32 = 60;
/// The number of samples before the memory has to be flat.
const WARM_SAMPLES: u32 = 10;
/// The growth that counts as flat, in percent and in bytes.
const GROWTH_PERCENT: u64 = 5;
const GROWTH_BYTES: u64 = 4 << 20;

/// Open, read and close a million objects again and again, and watch the memory
///
/// Mounts a web server of this program with `--memory 16MiB`. Four readers open the objects one after
/// another, check every byte, and close them. The command fails for a wrong byte. It also fails if
/// the mount's memory grows after the first sixth of the time.
#[derive(Debug, clap::Args)]
pub(crate) struct SoakCommand {
    /// How long to read, as in 15m or 1h
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = parse_duration)]
    time: Duration,

    /// How many objects there are
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    objects: u64,
}

impl SoakCommand {
    /// Reads. Fails if the memory grew.
    ///
    /// # Errors
    /// The step that failed, or a wrong byte.
    pub(super) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let address = server::start().map_err(|error| format!("the server does not start: {error}"))?;
        let samples = on_threads_of_its_own(async {
            let stop = stop_asked()?;
            let mut program = this_program()?;
            program.args(["mount", "--memory", "16MiB", &format!("http://{address}/")]);
            let mut mount = MountProcess::run(program, Ready::Told).await?;
            let done = tokio::select! {
                done = self.measure(&mount) => done,
                () = stop => Err("interrupted".to_owned()),
            };
            let stopped = mount.stop().await;
            done.and_then(|samples| stopped.map(|()| samples))
        })?;
        let is_flat = is_flat(&samples);
        let verdict = if is_flat { "flat" } else { "NOT FLAT" };
        show(&format!("memory after the first sixth of the time: {verdict}\n"))?;
        Ok(if is_flat { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    async fn measure(&self, mount: &MountProcess) -> Result<Vec<u64>, String> {
        let begun = Instant::now();
        let until = begun + self.time;
        let opened: &'static AtomicU64 = Box::leak(Box::default());
        let readers = (0..READERS).map(|reader| {
            let (directory, objects) = (mount.directory().to_owned(), self.objects);
            tokio::task::spawn_blocking(move || read_all(&directory, reader, objects, until, opened))
        });
        let readers: Vec<_> = readers.collect();
        let mut samples = Vec::new();
        let progress = Progress::steps("soak", SAMPLES as usize);
        for sample in 1..=SAMPLES {
            tokio::time::sleep_until((begun + self.time * sample / SAMPLES).into()).await;
            samples.push(mount.memory_bytes()?);
            tell(&format!(
                "{} s: {} objects opened, {:.1} MB",
                begun.elapsed().as_secs(),
                opened.load(Ordering::Relaxed),
                samples[samples.len() - 1] as f64 / 1e6
            ));
            progress.advance();
        }
        for reader in readers {
            reader.await.map_err(|error| format!("a reader: {error}"))??;
        }
        Ok(samples)
    }
}

/// Opens every object of this reader, again and again.
fn read_all(
    directory: &Path,
    reader: u64,
    objects: u64,
    until: Instant,
    opened: &AtomicU64,
) -> Result<(), String> {
    let mut bytes = Vec::new();
    for index in (reader..objects).step_by(READERS as usize).cycle() {
        if Instant::now() >= until {
            return Ok(());
        }
        let name = server::name(index);
        bytes.clear();
        let read = File::open(directory.join(&name)).and_then(|mut file| file.read_to_end(&mut bytes));
        read.map_err(|error| format!("reading {name}: {error}"))?;
        if bytes != server::bytes(index) {
            return Err(format!("{name} has other bytes than the server has sent"));
        }
        opened.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// Whether no later sample exceeds the last warm one by more than the limits.
fn is_flat(samples: &[u64]) -> bool {
    let (warm, later) = samples.split_at(WARM_SAMPLES as usize);
    let most = warm[warm.len() - 1];
    later.iter().all(|bytes| *bytes <= most + most * GROWTH_PERCENT / 100 + GROWTH_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_after_the_first_sixth_is_seen() {
        let grow = |step: u64| (0..u64::from(SAMPLES)).map(|at| (50 << 20) + at * step).collect::<Vec<_>>();
        assert!(is_flat(&grow(0)));
        assert!(!is_flat(&grow(1 << 20)));
        let warm = (0..u64::from(SAMPLES)).map(|at| at.min(9) * (50 << 20)).collect::<Vec<_>>();
        assert!(is_flat(&warm));
    }
}
