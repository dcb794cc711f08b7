//! Virtual time: device models, and worlds in which readers read from them.
//!
//! Nothing here sleeps, asks the clock or draws a number that its seed does not give. The same world with
//! the same seed ends in the same state on any machine.
//!
//! * [`device`] models disks, SSDs, arrays, networks and stores.
//! * [`queue`] orders, merges and holds back requests to a device, as elevators do.
//! * [`source`] decides which client reads what and when: recorded accesses or programs.
//! * [`world`] lets the unmodified `forerun-engine` serve a source from a device.
//! * [`kernel`] lets a kernel of the past serve it, for comparison.
//! * [`bound`] is a time that no policy could beat.
//! * [`run`] is the result of a run.

#![forbid(unsafe_code)]

pub mod bound;
pub mod device;
pub mod kernel;
mod map;
pub mod queue;
pub mod run;
pub mod source;
pub mod world;
