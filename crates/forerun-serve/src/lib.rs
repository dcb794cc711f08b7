//! Forerun's front ends: each translates a protocol's requests into reads of a
//! [`forerun::Forerun`] and its errors back, and decides nothing.

#[cfg(target_os = "linux")]
pub mod fuse;
#[cfg(target_os = "linux")]
pub mod nbd;
