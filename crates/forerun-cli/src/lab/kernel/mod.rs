//! `forerun bench-kernel`: compares the kernel's readahead with the mount's on the same disk.

mod block_reader;
mod disk_contents;
mod jobs;
mod resource;
mod slow_disk;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

pub(crate) use self::block_reader::ReaderCommand;
use self::jobs::{JOBS, Job};
pub(crate) use self::resource::MemoryGroup;
use self::slow_disk::{Column, DiskRun, SlowDisk};
use crate::demo::markdown;
use crate::demo::session::stop_asked;
use crate::print::{self, tell};
use crate::progress::Progress;
use crate::units::show_size;

/// Measure real reads on a modelled disk, through the kernel and through a mount
///
/// Puts an ext4 file system on a loop device over `forerun lab device`, and reads from it in
/// limited memory. Compares the kernel's readahead of 128 KiB and of 1 MiB with `forerun mount`,
/// whose process shares the memory. Needs root, cgroup v1, loop devices and mkfs.ext4.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchKernelCommand {
    /// The modelled disk
    #[arg(long, value_name = "PRESET", default_value = "ide-2006")]
    device: String,

    /// How many times faster than the model the disk is
    #[arg(long, value_name = "FACTOR", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100))]
    speed: u64,

    /// How often to measure; the table has medians
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=99))]
    repeat: u32,

    /// How much the kernel reads ahead below the mount, in KiB
    #[arg(long, value_name = "KIB", default_value_t = 128)]
    below: u64,

    /// Only the rows whose names contain one of these words
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    only: Vec<String>,
}

/// The average lateness of the disk's answers above which times are in doubt.
const LATE_NS_MAX: u64 = 100_000;

/// The results of the runs of one row and column.
type Runs = Vec<Result<DiskRun, String>>;

impl BenchKernelCommand {
    /// Measures, and prints a table.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        if !rustix::process::geteuid().is_root() {
            return Err("bench-kernel mounts file systems and limits memory: run it as root".into());
        }
        let chosen =
            |row: &&Job| self.only.is_empty() || self.only.iter().any(|word| row.name.contains(word));
        let rows: Vec<&Job> = JOBS.iter().filter(chosen).collect();
        if rows.is_empty() {
            let names: Vec<&str> = JOBS.iter().map(|row| row.name).collect();
            return Err(format!("--only matches no row; the rows are: {}", names.join("; ")).into());
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let measured = runtime.block_on(async {
            let stop = stop_asked()?;
            // A signal drops the measurement, which cleans up after itself.
            tokio::select! {
                measured = self.measure(&rows) => measured,
                () = stop => Err("interrupted".to_owned()),
            }
        });
        let (cells, late_ns) = measured?;
        let report = self.report(&rows, &cells) + &self.doubt(late_ns);
        print::show(&report)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Runs all rows once, then again: a temporary disturbance then affects one measurement of each
    /// row, not all of one. Also returns the disk's average lateness.
    async fn measure(&self, rows: &[&Job]) -> Result<(Vec<[Runs; 3]>, u64), String> {
        let stand = SlowDisk::new(&self.device, self.speed, self.below).await?;
        let mut measured: Vec<[Runs; 3]> = vec![Default::default(); rows.len()];
        let progress = Progress::steps("bench-kernel", self.repeat as usize * rows.len() * Column::ALL.len());
        for _ in 0..self.repeat {
            for (row, cells) in rows.iter().zip(&mut measured) {
                for (column, cell) in Column::ALL.into_iter().zip(cells) {
                    let run = stand.measure(row, column).await;
                    let shown = match &run {
                        Ok(run) => format!("{:.2} s", self.device_seconds(run.elapsed)),
                        Err(error) => error.clone(),
                    };
                    tell(&format!("{}, {}: {shown}", row.name, column.name()));
                    cell.push(run);
                    progress.advance();
                }
            }
        }
        let late_ns = stand.late_ns()?;
        stand.close().await?;
        Ok((measured, late_ns))
    }

    fn doubt(&self, late_ns: u64) -> String {
        if late_ns <= LATE_NS_MAX {
            return String::new();
        }
        let late_ms = late_ns as f64 / 1e6 * self.speed as f64;
        format!(
            "\nThe disk answered {late_ms:.1} ms of its own time late on average, so the times are too long: end \
             other programs, or lower --speed.\n"
        )
    }

    fn device_seconds(&self, elapsed: Duration) -> f64 {
        elapsed.as_secs_f64() * self.speed as f64
    }

    fn report(&self, rows: &[&Job], measured: &[[Runs; 3]]) -> String {
        let columns = Column::ALL.map(Column::name);
        let mut header = vec!["row".to_owned(), "memory".to_owned()];
        header.extend(columns.map(|name| format!("{name}, s")));
        header.push("128K ÷ forerun".to_owned());
        header.extend(columns.map(|name| format!("{name}, ÷ asked")));
        let lines: Vec<Vec<String>> = rows
            .iter()
            .zip(measured)
            .map(|(row, cells)| {
                let seconds =
                    cells.each_ref().map(|cell| median(cell, |run| self.device_seconds(run.elapsed)));
                let shares = cells
                    .each_ref()
                    .map(|cell| median(cell, |run| run.device_bytes as f64 / row.asked_bytes() as f64));
                let mut line = vec![row.name.to_owned(), show_size(row.memory_bytes)];
                line.extend(seconds.map(show));
                line.push(show(seconds[0].zip(seconds[2]).map(|(kernel, forerun)| kernel / forerun)));
                line.extend(shares.map(show));
                line
            })
            .collect();
        format!(
            "\next4 on {}, {} times as fast as the real one; times are those of the real one. Medians of {}.\n\
             Each run begins with empty caches. The memory holds the page cache, the reader and, in the last\n\
             column, the mount, which may use half of it for data. Below the mount the kernel reads {} KiB ahead.\n\
             ÷ asked: bytes read from the disk for each byte that readers requested. –: a run failed.\n\n{}",
            self.device,
            self.speed,
            self.repeat,
            self.below,
            markdown::render(&header, &lines)
        )
    }
}

/// The median of `value` over the runs, unless one failed.
fn median(cell: &Runs, value: impl Fn(&DiskRun) -> f64) -> Option<f64> {
    let mut values: Vec<f64> = cell.iter().map(|run| run.as_ref().ok().map(&value)).collect::<Option<_>>()?;
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        1 => Some(values[middle]),
        _ => Some(f64::midpoint(*values.get(middle.checked_sub(1)?)?, values[middle])),
    }
}

fn show(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"))
}
