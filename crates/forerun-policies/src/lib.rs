//! Readahead as other software does it, for the Forerun engine: the policies that `adaptive` is compared
//! with.
//!
//! Each policy keeps the rules of its software, as far as [`PolicyRules`] has them. [`PolicyKind`] names
//! every policy, those of the engine included, and gives an engine the one that is chosen:
//!
//! ```
//! use forerun_engine::{Config, Engine};
//! use forerun_policies::PolicyKind;
//!
//! let policy: PolicyKind = "ondemand".parse()?;
//! let engine = Engine::new(Config { policy: policy.into(), ..Config::new(64 << 20) })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`PolicyRules`]: forerun_engine::PolicyRules

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod amp;
pub mod kernel;
mod kernel_policy;
mod kind;
mod rbd;

pub use kind::{PolicyKind, UnknownPolicy};
