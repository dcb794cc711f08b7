//! Forerun's front ends: each translates a protocol's requests into reads of a
//! [`forerun::Forerun`] and its errors back, and decides nothing.

#[cfg(target_os = "linux")]
mod clients;
#[cfg(target_os = "linux")]
pub mod fuse;
#[cfg(target_os = "linux")]
pub mod http;
#[cfg(target_os = "linux")]
mod listener;
#[cfg(target_os = "linux")]
pub mod metrics;
#[cfg(target_os = "linux")]
pub mod nbd;

#[cfg(target_os = "linux")]
pub use listener::{Listener, Place};
