//! `forerun bench clients`: real clients of `forerun serve`, beside the same clients of the store.

mod client_rows;
mod client_table;
mod goal;
mod native;
mod nfs_reader;

use std::error::Error;
use std::process::ExitCode;

use self::client_rows::{ClientRow, ROWS};
use self::client_table::CLIENT_TABLE;
pub(crate) use self::native::BenchClientCommand;
#[cfg(test)]
use super::programs::Program;
use super::programs::ProgramOptions;

/// Measure real clients of S3 and NFS on a server, beside the same clients of the store
///
/// Runs boto3, aws, s3fs, pyarrow, DuckDB, Dask, rclone, nfs-cat and a client in Rust on the store of the demo. Each reads
/// through a new `forerun serve`, and from the store directly, in turn. Some also read through a mount, and those
/// of NFS from `rclone serve nfs`. Every result is compared with that of the local copy. The command fails if a result
/// differs or a goal is missed. `make bench-clients` installs the clients. The data set is that of `bench programs`, and
/// one of 2.1 GB for Dask.
#[derive(Debug, clap::Args)]
pub(crate) struct ClientsCommand {
    /// The clients to run; all of them by default
    #[arg(long, value_name = "CLIENTS", value_delimiter = ',', value_parser = ClientRow::parse)]
    only: Vec<ClientRow>,

    #[command(flatten)]
    options: ProgramOptions,
}

impl ClientsCommand {
    /// Measures. Fails if a client failed or read wrong bytes, or if a goal is missed.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let rows = if self.only.is_empty() { ROWS.to_vec() } else { self.only };
        let clients = rows.iter().map(|row| (row.client, row.contenders.to_vec())).collect();
        let groups = self.options.measure("bench clients", clients, false)?;
        let processors = std::thread::available_parallelism()?.get() as f64;
        let missed: Vec<_> = rows
            .iter()
            .zip(&groups)
            .flat_map(|(row, (_, each))| goal::missed(row, each, processors))
            .collect();
        self.options.conclude(&CLIENT_TABLE, &groups, &missed)
    }
}

/// All clients.
#[cfg(test)]
pub(super) fn clients() -> impl Iterator<Item = Program> {
    ROWS.into_iter().map(|row| row.client)
}
