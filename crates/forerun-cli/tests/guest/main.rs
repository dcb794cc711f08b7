//! The kernel of a virtual machine is a client of our servers, or limits their memory. `make nbd-guest`, `make nfs-guest`
//! and `make memory-guest` make the machine and run these tests; elsewhere they are left out.

mod machine;
mod memory;
mod nbd;
mod nfs;
#[allow(dead_code, reason = "each test program uses its part")]
#[path = "../nbd_programs/served.rs"]
mod served;
#[allow(dead_code, reason = "each test program uses its part")]
#[path = "../program/serving.rs"]
mod serving;
#[allow(dead_code, reason = "each test program uses its part")]
#[path = "../support/mod.rs"]
mod support;
