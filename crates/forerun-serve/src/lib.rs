//! Forerun's front ends: each translates a protocol's requests into reads of a
//! [`forerun::Forerun`] and its errors back, and decides nothing.

#[cfg(target_os = "linux")]
mod accepting;
#[cfg(target_os = "linux")]
mod beginning;
#[cfg(target_os = "linux")]
mod clients;
#[cfg(target_os = "linux")]
mod fields;
#[cfg(target_os = "linux")]
pub mod fuse;
#[cfg(target_os = "linux")]
pub mod http;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
mod listener;
#[cfg(target_os = "linux")]
pub mod metrics;
#[cfg(target_os = "linux")]
pub mod nbd;
#[cfg(target_os = "linux")]
pub mod nfs;
#[cfg(target_os = "linux")]
mod sending;
#[cfg(target_os = "linux")]
mod served;
#[cfg(target_os = "linux")]
mod sharers;
#[cfg(target_os = "linux")]
mod tls;

#[cfg(target_os = "linux")]
pub use limits::Limits;
#[cfg(target_os = "linux")]
pub use listener::{Listener, Place};
#[cfg(target_os = "linux")]
pub use served::Buckets;
#[cfg(target_os = "linux")]
pub use sharers::client_of;
#[cfg(target_os = "linux")]
pub use tls::Tls;
