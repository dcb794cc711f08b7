//! `forerun lab`: experiments.

#[cfg(feature = "ablate")]
mod ablate;
mod device;
mod fairness;
mod fidelity;
mod gates;
mod kernel;
mod quick;
mod rows;
mod seeds;
mod streams;
mod sweep;

use std::error::Error;
use std::process::ExitCode;

use clap::Subcommand;

pub(crate) use self::device::{Clock, Message, Model, Stats, start_device};
pub(crate) use self::kernel::{BenchKernelCommand, MemoryGroup, ReaderCommand};

/// Run experiments on modelled storage
#[derive(Debug, clap::Args)]
pub(crate) struct LabCommand {
    #[command(subcommand)]
    command: Experiment,
}

#[derive(Debug, Subcommand)]
enum Experiment {
    #[cfg(feature = "ablate")]
    Ablate(ablate::AblateCommand),
    Device(device::DeviceCommand),
    Rows(rows::RowsCommand),
    Gates(gates::GatesCommand),
    Seeds(seeds::SeedsCommand),
    Fairness(fairness::FairnessCommand),
    Streams(streams::StreamsCommand),
    Sweep(sweep::SweepCommand),
    Fidelity(fidelity::FidelityCommand),
}

impl LabCommand {
    /// Runs the experiment.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        match self.command {
            #[cfg(feature = "ablate")]
            Experiment::Ablate(ablate) => ablate.run(),
            Experiment::Device(device) => device.run(),
            Experiment::Rows(rows) => rows.run(),
            Experiment::Gates(gates) => gates.run(),
            Experiment::Seeds(seeds) => seeds.run(),
            Experiment::Fairness(fairness) => fairness.run(),
            Experiment::Streams(streams) => streams.run(),
            Experiment::Sweep(sweep) => sweep.run(),
            Experiment::Fidelity(fidelity) => fidelity.run(),
        }
    }
}
