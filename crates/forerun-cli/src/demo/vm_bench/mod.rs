//! `forerun bench vm`: boots of a virtual machine from network block devices on the demo's store.

mod boot_console;
mod boot_image;
mod boot_source;
mod machine_parts;
mod qemu_monitor;
mod virtual_machine;
mod vm_goal;
mod vm_run;
mod vm_table;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;

use self::boot_image::BootImage;
use self::boot_source::BootSource;
use self::machine_parts::Bus;
use self::vm_run::{VmBench, VmRun};
use self::vm_table::VmComparison;
use super::link::Shape;
use super::rounds::rounds;
use super::session::{on_threads_of_its_own, stop_asked};
use crate::print::{show, tell};
use crate::progress::Progress;
use crate::units::parse_duration;

/// Boot a virtual machine from a network block device, beside nbdkit
///
/// Forerun and nbdkit's curl plugin serve a disk image in the demo's store at a Unix socket. QEMU boots Debian from
/// each of them in turn. Then the machine runs `grep -r` over /usr, and its result is checked. The command
/// fails if Forerun misses a goal. `make bench-vm` makes the image and installs the other programs.
#[derive(Debug, clap::Args)]
pub(crate) struct VmBenchCommand {
    /// The buses of the disk
    #[arg(long, value_name = "BUSES", value_delimiter = ',', default_value = "ide")]
    bus: Vec<Bus>,

    /// The places to boot from; all of them by default
    #[arg(long, value_name = "SOURCES", value_delimiter = ',')]
    only: Vec<BootSource>,

    /// How long each request to the store waits for its first byte, as in 10ms
    #[arg(long, value_name = "TIME", default_value = "5ms", value_parser = parse_duration)]
    latency: Duration,

    /// How often to measure; medians count
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=99))]
    repeat: u32,

    /// How long a machine may run, as in 900s
    #[arg(long, value_name = "TIME", default_value = "900s", value_parser = parse_duration)]
    time: Duration,

    /// The folder of the image
    #[arg(long, value_name = "DIR", default_value = "target/bench-vm")]
    folder: PathBuf,
}

impl VmBenchCommand {
    /// Measures and prints the table. Fails if Forerun misses a goal, or if a machine read wrong bytes.
    ///
    /// # Errors
    /// The step that failed.
    pub(super) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let shape = Shape { latency: self.latency, ..Shape::default() };
        let image = BootImage::open(&self.folder)?;
        let (accelerator, comparisons) = on_threads_of_its_own(async {
            let stop = stop_asked()?;
            let measured = async {
                let bench = VmBench::start(image, shape, self.time).await?;
                Ok((bench.accelerator, self.measure_all(&bench).await?))
            };
            tokio::select! {
                done = measured => done,
                () = stop => Err("interrupted".to_owned()),
            }
        })?;
        show(&vm_table::report(&comparisons, shape, accelerator))?;
        let holds = comparisons.iter().all(VmComparison::holds);
        Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    async fn measure_all(&self, bench: &VmBench) -> Result<Vec<VmComparison>, String> {
        let all = if self.only.is_empty() { BootSource::value_variants() } else { &self.only };
        let progress = Progress::steps("bench vm", self.bus.len() * all.len() * self.repeat as usize);
        let mut comparisons = Vec::new();
        for bus in &self.bus {
            comparisons.push(self.measure(bench, *bus, all, &progress).await?);
        }
        Ok(comparisons)
    }

    /// Boots from all `sources` in rounds.
    async fn measure(
        &self,
        bench: &VmBench,
        bus: Bus,
        sources: &[BootSource],
        progress: &Progress,
    ) -> Result<VmComparison, String> {
        let mut runs: Vec<Vec<VmRun>> = vec![Vec::new(); sources.len()];
        for place in rounds(self.repeat, sources.len()) {
            let name = format!("{}, {}", bus.title(), sources[place].title());
            let run = bench.measure(sources[place], bus).await;
            let run = run.map_err(|error| format!("{name}: {error}"))?;
            tell(&format!("{name}: {:.1} s, {:.1} s", run.boot.as_secs_f64(), run.grep.as_secs_f64()));
            runs[place].push(run);
            progress.advance();
        }
        Ok(VmComparison::of(bus, sources, &runs))
    }
}
