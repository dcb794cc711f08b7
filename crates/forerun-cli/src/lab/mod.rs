//! `forerun lab`: experiments.

#[cfg(feature = "ablate")]
mod ablate;
mod device;
mod fidelity;
mod gates;
mod kernel;
mod quick;
mod rows;
mod seeds;

use std::error::Error;
use std::process::ExitCode;

use clap::Subcommand;

pub(crate) use self::kernel::{BenchKernelCommand, ReaderCommand};

/// Run experiments on modelled storage
#[derive(Debug, clap::Args)]
pub(crate) struct LabCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[cfg(feature = "ablate")]
    Ablate(ablate::AblateCommand),
    Device(device::DeviceCommand),
    Rows(rows::RowsCommand),
    Gates(gates::GatesCommand),
    Seeds(seeds::SeedsCommand),
    Fidelity(fidelity::FidelityCommand),
}

impl LabCommand {
    /// Runs the experiment.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        match self.command {
            #[cfg(feature = "ablate")]
            Command::Ablate(ablate) => ablate.run(),
            Command::Device(device) => device.run(),
            Command::Rows(rows) => rows.run(),
            Command::Gates(gates) => gates.run(),
            Command::Seeds(seeds) => seeds.run(),
            Command::Fidelity(fidelity) => fidelity.run(),
        }
    }
}
