//! `forerun bench clients`: real clients of `forerun serve`, beside the same clients of the store.

mod client_rows;
mod client_table;
mod goal;
mod native;
mod nfs_reader;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use self::client_rows::{ClientRow, ROWS};
pub(crate) use self::native::BenchClientCommand;
#[cfg(test)]
use super::programs::Program;
use super::programs::{Comparison, Folder, ProgramBench, json};
use super::session::{on_threads_of_its_own, stop_asked};
use crate::print::show;
use crate::progress::Progress;
use crate::units::parse_duration;

/// Measure real clients of S3 and NFS on a server, beside the same clients of the store
///
/// Runs boto3, aws, s3fs, pyarrow, DuckDB, rclone, nfs-cat and a client in Rust on the store of the demo. Each reads
/// through a new `forerun serve`, and from the store directly, in turn. Some also read through a mount. Every result is
/// compared with that of the local copy. The command fails if a result differs or a goal is missed. `make bench-clients`
/// installs the clients. The data set is that of `bench programs`.
#[derive(Debug, clap::Args)]
pub(crate) struct ClientsCommand {
    /// The clients to run; all of them by default
    #[arg(long, value_name = "CLIENTS", value_delimiter = ',', value_parser = ClientRow::parse)]
    only: Vec<ClientRow>,

    /// How often to measure; medians count
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=99))]
    repeat: u32,

    /// How long a client may read, as in 60s; then it is ended
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration)]
    time: Duration,

    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,

    /// The folder of the data set and of the virtual environments
    #[arg(long, value_name = "DIR", default_value = "target/bench-programs")]
    folder: PathBuf,
}

impl ClientsCommand {
    /// Measures. Fails if a client failed or read wrong bytes, or if a goal is missed.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let rows = if self.only.is_empty() { ROWS.to_vec() } else { self.only.clone() };
        let groups = on_threads_of_its_own(async {
            let stop = stop_asked()?;
            let folder = Folder::open(&self.folder).await?;
            let mut stand = ProgramBench::new(folder, false, self.time).await?;
            let done = tokio::select! {
                done = self.measure_all(&mut stand, &rows) => done,
                () = stop => Err("interrupted".to_owned()),
            };
            let closed = stand.close().await;
            done.and_then(|groups| closed.map(|()| groups))
        })?;
        let processors = std::thread::available_parallelism()?.get() as f64;
        let missed: Vec<_> = rows
            .iter()
            .zip(&groups)
            .flat_map(|(row, (_, each))| goal::missed(row, each, processors))
            .collect();
        show(&if self.json { json(&groups) } else { client_table::report(&groups, &missed, self.time) })?;
        let mut summaries = groups.iter().flat_map(|(_, each)| each);
        let is_wrong = summaries.any(|(_, summary)| summary.is_wrong || summary.has_failed);
        Ok(if is_wrong || !missed.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    async fn measure_all(
        &self,
        stand: &mut ProgramBench,
        rows: &[ClientRow],
    ) -> Result<Vec<Comparison>, String> {
        let progress = Progress::steps("bench clients", rows.len());
        let mut groups = Vec::new();
        for row in rows {
            let contenders = row.contenders.to_vec();
            let measured = stand.measure_in_turns(row.client, contenders, self.repeat).await?;
            groups.push((row.client, measured));
            progress.advance();
        }
        Ok(groups)
    }
}

/// All clients.
#[cfg(test)]
pub(super) fn clients() -> impl Iterator<Item = Program> {
    ROWS.into_iter().map(|row| row.client)
}
