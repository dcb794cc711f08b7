//! What the budget of memory and of the device is spent on.

mod disks;
mod memory;
mod support;
mod walks;
