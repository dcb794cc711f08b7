//! `forerun bench server`: a thousand slow clients of three web servers, on the same disks.

mod array_bytes;
mod array_files;
mod crowd_run;
mod crowd_table;
mod disk_array;
mod enclosure;
mod slow_client;
mod web_server;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;

use self::crowd_run::Load;
use self::web_server::WebServer;
use super::session::{on_threads_of_its_own, stop_asked};
use crate::print::{show, tell};
use crate::progress::Progress;
use crate::units::{parse_duration, parse_size};

/// The shortest time in which anything is measured.
const MEASURED_MIN: Duration = Duration::from_secs(2);

/// Measure a thousand slow clients of web servers on the same disks
///
/// Each client reads a file of its own at 35 KB/s. The files lie on seven modelled disks of 2006. Each server has
/// 200 MB of memory, the page cache and the buffers of its sockets included. Every byte is checked. The command fails
/// if Forerun lets a client wait after its first five seconds, or if its disks work longer than those of another server.
/// Needs root, cgroup v1, nginx and lighttpd.
#[derive(Debug, clap::Args)]
pub(crate) struct ServerBenchCommand {
    /// The servers to measure; all of them by default
    #[arg(long, value_name = "SERVERS", value_delimiter = ',')]
    only: Vec<WebServer>,

    /// How many clients come, during the first sixth of the time
    #[arg(long, value_name = "COUNT", default_value_t = 1240, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    clients: u64,

    /// How long to measure each server, as in 60s
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration)]
    time: Duration,

    /// The memory of a server
    #[arg(long, value_name = "SIZE", default_value = "200MB", value_parser = parse_size)]
    memory: u64,

    /// The part of it that Forerun may use for data, as its --memory
    ///
    /// The rest is for its program, its connections and their sockets, which take 90 KB for each client.
    #[arg(long, value_name = "SIZE", default_value = "80MiB", value_parser = parse_size)]
    data: u64,
}

impl ServerBenchCommand {
    /// Measures and prints the table. Fails if Forerun breaks a promise.
    ///
    /// # Errors
    /// The step that failed.
    pub(super) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        if !rustix::process::geteuid().is_root() {
            return Err("bench server limits memory and makes a network: run it as root".into());
        }
        let load = Load {
            client_count: self.clients,
            time: self.time,
            memory_bytes: self.memory,
            data_bytes: self.data,
        };
        if self.time < load.unmeasured() + MEASURED_MIN {
            return Err("clients are measured after their first seconds: give a --time of at least 9s".into());
        }
        enclosure::allow_files(self.clients)?;
        enclosure::enter_network()?;
        let servers = if self.only.is_empty() { WebServer::value_variants().to_vec() } else { self.only };
        let progress = Progress::steps("servers", servers.len());
        let runs = on_threads_of_its_own(async {
            let stop = stop_asked()?;
            let measured = async {
                let mut runs = Vec::new();
                for server in servers {
                    let run = load.measure(server).await?;
                    tell(&crowd_table::line(server, &run));
                    runs.push((server, run));
                    progress.advance();
                }
                Ok(runs)
            };
            tokio::select! {
                done = measured => done,
                () = stop => Err("interrupted".to_owned()),
            }
        })?;
        drop(progress);
        show(&crowd_table::report(&runs))?;
        let holds = runs.iter().all(|(server, run)| crowd_table::holds(*server, run, &runs));
        Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
