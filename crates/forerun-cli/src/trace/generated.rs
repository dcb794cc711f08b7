//! `forerun trace generate`.

use std::error::Error;
use std::time::Duration;

use clap::ValueEnum;
use forerun_trace::generate::{Pattern, Plan};

use super::recording::{RecordingOutput, report};
use crate::progress::Progress;
use crate::units::{nanoseconds, parse_size, parse_time};

/// Write accesses of a known pattern
///
/// The same options give the same accesses on every machine. Several patterns run at the same
/// time, each in a thread with files of its own. Every reader waits for its answers.
#[derive(Debug, clap::Args)]
pub(super) struct GenerateRecordingCommand {
    /// The order of the reads; several patterns make a mix
    #[arg(value_name = "PATTERN", required = true, num_args = 1..)]
    patterns: Vec<Name>,

    /// The size of a file, or of the largest file of a tree
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = parse_size)]
    size: u64,

    /// The size of a read
    #[arg(long, value_name = "SIZE", default_value = "128KiB", value_parser = parse_size)]
    request: u64,

    /// The number of threads for each pattern
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    clients: u16,

    /// The largest number of accesses of each thread
    #[arg(long, value_name = "N")]
    count: Option<u64>,

    /// How long a reader thinks before its next read, on average, as in 500us or 2ms
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = parse_time)]
    think: Duration,

    /// How far a read may move from its place in the order, in reads
    #[arg(long, value_name = "N", default_value_t = 0)]
    displaced: usize,

    /// The number of streams of `interleaved`
    #[arg(long, value_name = "N", default_value_t = 4)]
    streams: u64,

    /// The distance from one read of `strided` to the next
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = parse_size)]
    stride: u64,

    /// How many of a hundred reads `sparse` makes
    #[arg(long, value_name = "N", default_value_t = 25)]
    percent: u64,

    /// The number of reads in a burst of `bursts`
    #[arg(long, value_name = "N", default_value_t = 16)]
    burst: u64,

    /// The time between two bursts
    #[arg(long, value_name = "DURATION", default_value = "100ms", value_parser = parse_time)]
    pause: Duration,

    /// The files of a tree (default 1000), or of each client of a file server (default 10)
    #[arg(long, value_name = "N")]
    files: Option<u64>,

    /// The seed; another one gives other accesses
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    output: RecordingOutput,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Name {
    /// From the beginning to the end
    Sequential,
    /// Several readers of one file, in turns
    Interleaved,
    /// Parts at equal distances
    Strided,
    /// From the end to the beginning
    Backward,
    /// Forward, leaving parts out
    Sparse,
    /// Anywhere
    Random,
    /// Sequential, with pauses
    Bursts,
    /// Many small files
    Tree,
    /// Write a file, read it back, and so on with the next
    FileServer,
    /// Sequential, requesting the whole rest of the file each time and getting some tens of KiB
    Partial,
}

impl GenerateRecordingCommand {
    pub(super) fn run(self) -> Result<(), Box<dyn Error>> {
        let plan = Plan {
            patterns: self.patterns.iter().flat_map(|name| self.threads(*name)).collect(),
            file_bytes: self.size,
            request_bytes: self.request,
            count: self.count,
            think_ns: nanoseconds(self.think),
            displaced: self.displaced,
            seed: self.seed,
        };
        let mut accesses = plan.generate()?;
        let mut writer = self.output.create(&[])?;
        let _progress = Progress::unknown("trace generate");
        while let Some(access) = accesses.next() {
            writer.write(&access, accesses.files())?;
        }
        report(writer.finish(accesses.files())?, self.output.path());
        Ok(())
    }

    fn threads(&self, name: Name) -> impl Iterator<Item = Pattern> {
        std::iter::repeat_n(self.pattern(name), self.clients.into())
    }

    fn pattern(&self, name: Name) -> Pattern {
        match name {
            Name::Sequential => Pattern::Sequential,
            Name::Interleaved => Pattern::Interleaved { streams: self.streams },
            Name::Strided => Pattern::Strided { stride: self.stride },
            Name::Backward => Pattern::Backward,
            Name::Sparse => Pattern::Sparse { percent: self.percent },
            Name::Random => Pattern::Random,
            Name::Bursts => Pattern::Bursts { requests: self.burst, pause_ns: nanoseconds(self.pause) },
            Name::Tree => Pattern::Tree { files: self.files.unwrap_or(1000) },
            Name::FileServer => Pattern::FileServer { files: self.files.unwrap_or(10) },
            Name::Partial => Pattern::Partial,
        }
    }
}
