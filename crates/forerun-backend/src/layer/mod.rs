//! Backends around a backend, one idea each.

mod delay;
mod fault;
mod only;
mod rate;
mod retry;

pub use delay::Delay;
pub use fault::{Fault, Faults};
pub use only::Only;
pub use rate::Rate;
pub use retry::Retry;
