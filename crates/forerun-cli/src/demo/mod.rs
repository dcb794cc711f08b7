//! `forerun demo`, which shows the effect of the mount on a slow store, and `forerun bench`, which
//! checks the promised rates.
//!
//! There are three processes. This one reads and checks every byte. `forerun mount` is the product
//! as users run it. The store (`forerun demo-store`) computes its contents, and delays its answers
//! like a network.

mod attacks;
pub(crate) mod bench;
mod clients;
mod crowd;
pub(crate) mod data;
mod http;
pub(crate) mod link;
pub(crate) mod markdown;
pub(crate) mod median;
mod nbd_bench;
pub(crate) mod process;
pub(crate) mod processors;
mod programs;
pub(crate) mod reader;
mod rounds;
pub(crate) mod session;
mod soak;
pub(crate) mod store;
mod vm_bench;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

pub(crate) use self::bench::BenchCommand;
pub(crate) use self::clients::BenchClientCommand;
use self::data::Contents;
use self::link::Shape;
use self::reader::Pattern;
use self::session::{Measured, Run, Session};
use self::store::{Attack, Bucket, Store};
use crate::print::{show, tell};
use crate::progress::Progress;
use crate::units::{parse_duration, parse_size, show_size};

/// Show the gain from readahead, on this machine
///
/// Starts an S3-compatible store behind a slow link: 10 ms per request, 80 MB/s per connection, 400
/// MB/s in all. Mounts it with each policy in turn, reads from it in five patterns, checks every
/// byte, and prints a table. Takes less than two minutes and leaves nothing behind.
#[derive(Debug, clap::Args)]
pub(crate) struct DemoCommand {
    /// How long each request waits for its first byte, as in 10ms
    #[arg(long, value_name = "TIME", default_value = "10ms", value_parser = parse_duration)]
    latency: Duration,

    /// The mount's memory for data, as in 256MiB
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = parse_size)]
    memory: u64,

    /// The policies to compare
    #[arg(long, value_name = "POLICIES", value_delimiter = ',', default_value = "none,plain,adaptive")]
    policy: Vec<String>,

    /// The readers to run: sequential, parallel, interleaved, displaced or random
    #[arg(long, value_name = "READERS", value_delimiter = ',', value_parser = parse_demo_pattern)]
    only: Vec<Pattern>,

    /// How much each reader reads, as in 1GiB; the random reader reads less
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = parse_bytes)]
    size: u64,

    /// The longest time that a reader reads, as in 5s
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_duration)]
    time: Duration,
}

/// Enough for a rate, and 5 s long without readahead.
pub(crate) const RANDOM_READS: usize = 400;

impl DemoCommand {
    /// Runs the demo. Fails if a byte was wrong.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let shape = Shape { latency: self.latency, ..Shape::default() };
        let patterns = if self.only.is_empty() { Pattern::DEMO.to_vec() } else { self.only.clone() };
        let progress = Progress::steps("demo", patterns.len() * self.policy.len());
        let measured = Session::with(self.size, async |session| {
            let mut rows = Vec::new();
            for pattern in patterns {
                rows.push((pattern, self.measure(session, pattern, shape, &progress).await?));
            }
            Ok(rows)
        })?;
        drop(progress);
        let is_correct = measured.iter().flat_map(|(_, cells)| cells).all(Measured::is_correct);
        show(&self.report(&measured, shape))?;
        Ok(if is_correct { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Measures one row: the same reader with each policy.
    async fn measure(
        &self,
        session: &mut Session,
        pattern: Pattern,
        shape: Shape,
        progress: &Progress,
    ) -> Result<Vec<Measured>, String> {
        let mut cells = Vec::new();
        for policy in &self.policy {
            let run = Run {
                policy: policy.clone(),
                pattern,
                shape,
                memory_bytes: self.memory,
                is_learned: false,
                time_max: self.time,
                random_reads: RANDOM_READS,
            };
            let measured = session.measure(&run).await?;
            tell(&format!("{}, policy {policy}: {}", pattern.title(), cell(&measured, shape)));
            cells.push(measured);
            progress.advance();
        }
        Ok(cells)
    }

    fn report(&self, measured: &[(Pattern, Vec<Measured>)], shape: Shape) -> String {
        let header: Vec<_> = std::iter::once("reader".to_owned())
            .chain(self.policy.iter().map(|policy| format!("policy `{policy}`")))
            .collect();
        let rows: Vec<_> = measured
            .iter()
            .map(|(pattern, cells)| {
                let title = std::iter::once(pattern.title().to_owned());
                title.chain(cells.iter().map(|measured| cell(measured, shape))).collect()
            })
            .collect();
        let wrong: u64 =
            measured.iter().flat_map(|(_, cells)| cells).map(|m| m.reading.tally.wrong_reads).sum();
        let verdict = match wrong {
            0 => "Every byte was checked and right.".to_owned(),
            wrong => format!("{wrong} READS RETURNED WRONG BYTES."),
        };
        format!(
            "\n{shape}; {} of memory.\n\n{}\n\
             Each cell: MB/s (share of the link), bytes fetched ÷ bytes read, peak memory of the whole process.\n\
             {verdict}\n",
            show_size(self.memory),
            markdown::render(&header, &rows),
        )
    }
}

fn cell(measured: &Measured, shape: Shape) -> String {
    let mb_s = measured.mb_s();
    let precision = if mb_s < 10.0 { 2 } else { 0 };
    let share = mb_s * 1e8 / shape.total_bytes_per_s as f64;
    let wrong = if measured.is_correct() { "" } else { ", WRONG BYTES" };
    format!(
        "{mb_s:.precision$} MB/s ({share:.0} %), {:.2}×, {:.0} MB{wrong}",
        measured.fetched_ratio(),
        measured.memory_peak_mb()
    )
}

/// Serve the demo's store until standard input is closed
#[derive(Debug, clap::Args)]
pub(crate) struct StoreCommand {
    /// The size of `one.bin`, and of all files of `big/` together
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = parse_bytes)]
    size: u64,

    /// Serve the files below DIR instead of the demo's own objects
    #[arg(long, value_name = "DIR", conflicts_with = "size")]
    directory: Option<PathBuf>,

    /// Misbehave towards those who read below `bad/`
    #[arg(long, value_name = "ATTACK")]
    attack: Option<Attack>,
}

impl StoreCommand {
    /// Serves. Prints the address as the only line of standard output.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let bucket = match &self.directory {
            Some(directory) => Bucket::of_directory(directory)?,
            None => Bucket::Generated(Contents::new(self.size)),
        };
        let (closed, is_closed) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            let _ = closed.send(());
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let store = Store::bind(bucket, Shape::default(), self.attack)?;
            show(&format!("{}\n", store.address()?))?;
            tokio::select! {
                never = store.serve() => match never {},
                _ = is_closed => Ok(ExitCode::SUCCESS),
            }
        })
    }
}

pub(crate) fn parse_pattern(name: &str) -> Result<Pattern, String> {
    Pattern::from_name(name).ok_or_else(|| {
        let names: Vec<_> = Pattern::DEMO.into_iter().chain(Pattern::MORE).map(Pattern::name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

/// A reader of `forerun demo`.
pub(crate) fn parse_demo_pattern(name: &str) -> Result<Pattern, String> {
    let pattern = Pattern::from_name(name).filter(|pattern| Pattern::DEMO.contains(pattern));
    pattern.ok_or_else(|| format!("expected one of {}", Pattern::DEMO.map(Pattern::name).join(", ")))
}

/// A size that eight readers can share and that keeps the bucket's blocks distinct.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    match parse_size(text)? {
        bytes if bytes.is_multiple_of(8 << 20) && (8 << 20..=2 << 30).contains(&bytes) => Ok(bytes),
        _ => Err("expected a multiple of 8MiB, at most 2GiB".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_readers_on_the_command_line() {
        assert_eq!(parse_bytes("64MiB"), Ok(64 << 20));
        for wrong in ["0", "1MiB", "12MiB", "4GiB", "x"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_pattern("backward"), Ok(Pattern::Backward));
        assert_eq!(parse_demo_pattern("displaced"), Ok(Pattern::Displaced));
        assert!(parse_demo_pattern("backward").is_err());
        assert!(parse_pattern("linear").unwrap_err().contains("interleaved"));
    }
}
