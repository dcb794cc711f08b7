//! Errors of an experiment, in words that a user can act on.

use forerun_engine::ConfigError;
use forerun_sim::world::Stuck;
use thiserror::Error;

/// An error says what failed, with which input, and the next step.
#[derive(Debug, Error)]
pub enum Error {
    /// A trace cannot be read.
    #[error(transparent)]
    Trace(#[from] forerun_trace::Error),
    /// A trace can be read, but not replayed.
    #[error("{name}: {reason}")]
    Unfit {
        /// The trace.
        name: String,
        /// Why not, and what to do.
        reason: String,
    },
    /// No engine can be made.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A reader waits for what never comes: a defect of the simulator.
    #[error("{cell}: {stuck}; this is a defect of Forerun, please report it")]
    Stuck {
        /// Which run.
        cell: String,
        /// How it ended.
        stuck: Stuck,
    },
}
