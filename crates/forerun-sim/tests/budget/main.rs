//! How the budgets of memory and device are spent.

mod disks;
mod memory;
mod support;
mod walks;
