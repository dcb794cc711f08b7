//! The options of the engine and of the log, which all front ends have.

use std::collections::BTreeSet;
use std::path::PathBuf;

use forerun::{ClientId, Forerun, Options, PolicyKind};
use forerun_serve::client_of;

use super::SourceOptions;
use super::shares::{ClientRate, Weight};
use crate::log::{self, Format};
use crate::memory::MemorySize;

/// How an engine reads.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct EngineOptions {
    /// Memory for data, as in 256MiB or 1G, or auto
    ///
    /// Bytes in flight, bytes read ahead and bytes already read share this memory. With auto it is up to half of the
    /// machine, or of the control group, and follows what other programs leave.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = MemorySize::parse)]
    pub(crate) memory: MemorySize,

    /// The policy that decides what is read ahead
    ///
    /// `adaptive` follows several readers of one object and sizes its windows by the storage's
    /// latency and rate. `ondemand` is the readahead of Linux for local disks. `plain`,
    /// `aligned` and `eager` are those of Ceph RBD. `none` reads nothing ahead. The others are
    /// historic, for comparison.
    #[arg(long, value_name = "POLICY", default_value = PolicyKind::default().name(), value_parser = policy_values())]
    pub(crate) policy: String,

    /// Give a client a larger share where clients want more than the storage gives, as in 1000=4
    ///
    /// Each client has a weight of 1 unless this gives it another, and clients share by their weights. A client leaves
    /// the rest to the others. NAME is the number of a user (mounts), an export (NBD), or an access key, a user or the address
    /// of a host (servers). May be given several times.
    #[arg(long = "weight", value_name = "NAME=COUNT", value_parser = Weight::parse)]
    weights: Vec<Weight>,

    /// Fetch no more than SIZE per second from each URL, or for one client, as in 100MB or 1000=20MB
    ///
    /// Reads of data that is in memory do not count. NAME is as for `--weight`. May be given several times.
    #[arg(long = "rate", value_name = "[NAME=]SIZE", value_parser = ClientRate::parse)]
    rates: Vec<ClientRate>,

    #[command(flatten)]
    pub(crate) source: SourceOptions,

    /// Record in FILE which parts of each object are read in which order, and read ahead along it
    ///
    /// Use it for reads that repeat, such as the boot of a machine or the start of a program. FILE is
    /// created if it does not exist; docs/profiles.md describes it. An object that has changed is
    /// learned again.
    #[arg(long, value_name = "FILE")]
    pub(crate) learn: Option<PathBuf>,
}

/// Where the log goes, and how much of it.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LogOptions {
    /// Append the log to a file instead of showing it
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,

    /// How and where the log is written
    ///
    /// Without it, the log is text. A service whose standard error is the journal of systemd logs to
    /// the journal, with a level and a target for each message.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) log_format: Option<Format>,

    /// Log more: -vv also logs what fails, and -vvv each read of programs and each fetch
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

impl EngineOptions {
    pub(crate) fn policy(&self) -> PolicyKind {
        self.policy.parse().unwrap_or_default()
    }

    /// Tells `forerun` of the weights and rates of clients.
    pub(crate) fn weigh(&self, forerun: &Forerun) {
        for Weight { name, weight } in &self.weights {
            forerun.set_weight(client_of(name), *weight);
        }
        for rate in &self.rates {
            forerun.set_rate(rate.client(), Some(rate.bytes_per_s));
        }
    }

    /// A mount knows its clients by the numbers of users.
    pub(crate) fn check_users(&self) -> Result<(), String> {
        let wrong = self.named_clients().into_iter().find(|(name, _)| name.parse::<u32>().is_err());
        wrong.map_or(Ok(()), |(name, _)| {
            Err(format!(
                "a mount knows users by number, and {name:?} is none: give the number that `id -u` shows"
            ))
        })
    }

    /// The clients that have a weight or a rate of their own, by name.
    pub(crate) fn named_clients(&self) -> Vec<(String, ClientId)> {
        let weighed = self.weights.iter().map(|weight| &weight.name);
        let names: BTreeSet<&String> =
            weighed.chain(self.rates.iter().filter_map(|rate| rate.name.as_ref())).collect();
        names.into_iter().map(|name| (name.clone(), client_of(name))).collect()
    }

    /// For the library.
    pub(crate) fn options(&self) -> Options {
        Options::default()
            .with_memory_bytes(self.memory.bytes)
            .with_policy(self.policy())
            .with_learn(self.learn.clone())
            .with_connect(self.source.connect())
    }
}

impl LogOptions {
    /// Starts the log.
    ///
    /// # Errors
    /// If its file cannot be written.
    pub(crate) fn start(&self) -> Result<(), String> {
        log::start(self.verbose, self.log.as_deref(), self.log_format)
    }
}

fn policy_values() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(PolicyKind::ALL.map(PolicyKind::name))
}
