//! `forerun lab streams`.

use std::error::Error;
use std::process::ExitCode;

use forerun_lab::slow_readers::{ReaderTrial, SlowReaders, figures, table};
use forerun_sim::device::Preset;

use crate::progress::Progress;
use crate::replay::lists::Policies;
use crate::replay::output::NumbersOutput;
use crate::units::parse_size;

/// The part of 64 MB that a kernel leaves for files, as in experiment C1 of `forerun lab seeds`.
const MEMORY: &str = "31600KiB";

const EXAMPLES: &str = "\
Examples:
  800 readers of 2 MiB at 1 KiB/s on a machine with 64 MB, as in seed 000:
      forerun lab streams
  The web server of seed 000, a quarter of its clients:
      forerun lab streams --server --readers 310 --rate 35KB --size 20MiB --memory 1GiB --device raid0-7
  Listeners of a radio archive, on S3:
      forerun lab streams --readers 2000 --rate 24KB --size 8MiB --memory 512MiB --device s3";

/// Compare policies for many slow readers in little memory
///
/// Each reader reads a file of its own at a given rate, in virtual time. The table has the bytes
/// fetched for each byte asked for, the requests, the waits, and the bytes evicted before they were
/// read. It also has the memory that a reader needs with each policy. Policies of Linux run in a
/// simulated kernel, the others in the engine, with the same memory.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct StreamsCommand {
    /// The number of readers
    #[arg(long, value_name = "N", default_value_t = 800, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    readers: u64,

    /// The bytes that each reader takes in a second, as in 1KiB
    #[arg(long, value_name = "SIZE", default_value = "1KiB", value_parser = parse_rate)]
    rate: u64,

    /// The size of each file
    #[arg(long, value_name = "SIZE", default_value = "2MiB", value_parser = parse_file)]
    size: u64,

    /// The memory for files
    #[arg(long, value_name = "SIZE", default_value = MEMORY, value_parser = parse_size)]
    memory: u64,

    /// The device; `forerun help replay` lists them
    #[arg(long, value_name = "NAME", default_value = "nvme", value_parser = Preset::from_name)]
    device: Preset,

    /// The policies, with commas, or all
    #[arg(
        long,
        value_name = "POLICY,...",
        default_value = "none,stock,ondemand-2.6.23,ondemand,ara,adaptive"
    )]
    policy: Policies,

    /// The largest window of policies that have a fixed maximum; adaptive and ara have none
    #[arg(long, value_name = "SIZE", default_value = "128KiB", value_parser = parse_window)]
    window: u64,

    /// One server reads for all, asks for the rest of a file each time, and gets a few pages
    #[arg(long)]
    server: bool,

    #[command(flatten)]
    output: NumbersOutput,
}

impl StreamsCommand {
    /// Runs them, and prints the table.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        self.output.check(&[])?;
        let trial = ReaderTrial {
            readers: SlowReaders {
                count: self.readers as usize,
                file_bytes: self.size,
                bytes_per_s: self.rate,
                has_server: self.server,
            },
            device: self.device,
            memory_bytes: self.memory,
            policies: self.policy.0,
            window_bytes_max: self.window,
        };
        let progress = Progress::steps("streams", 0);
        let rows = trial.run(|done, all| progress.set(done, all))?;
        drop(progress);
        self.output.write_figures(&figures(&trial, &rows), || table(&trial, &rows))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn parse_rate(text: &str) -> Result<u64, String> {
    within(text, 1, 1 << 30, "a rate of 1 byte to 1 GiB in a second, as in 35KB")
}

fn parse_file(text: &str) -> Result<u64, String> {
    within(text, 4096, 1 << 40, "a size from 4 KiB to 1 TiB")
}

fn parse_window(text: &str) -> Result<u64, String> {
    within(text, 4096, 1 << 30, "a size from 4 KiB to 1 GiB")
}

fn within(text: &str, least: u64, most: u64, what: &str) -> Result<u64, String> {
    let bytes = parse_size(text)?;
    if (least..=most).contains(&bytes) { Ok(bytes) } else { Err(format!("expected {what}")) }
}
