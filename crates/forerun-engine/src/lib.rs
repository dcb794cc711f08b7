//! Every decision Forerun makes, and none of its I/O.
//!
//! The engine is told what readers ask for and how fetches fare, and says what
//! to fetch, what to cancel and whom to answer. It never sees bytes, paths,
//! clocks, threads or randomness: time is an argument, memory is a number, and
//! the same calls in the same order give the same answers on any machine.
//!
//! There are four kinds of call and no fifth:
//!
//! * **getters** look and change nothing;
//! * **commands** come from readers: [`Engine::open`], [`Engine::read`],
//!   [`Engine::release`], [`Engine::advise`], [`Engine::invalidate`], [`Engine::close`] …;
//! * **`handle_*`** say what happened: bytes arrived, a fetch ended;
//! * **`poll_*`** say what to do next: a [`Fetch`] to start, a [`FetchId`] to
//!   cancel, a [`Reply`] to give.
//!
//! After every command and every `handle_*` call, drain `poll_fetch`,
//! `poll_cancel` and `poll_reply` until each says `None`; and before them
//! `poll_entry`, if the driver tells of listings, `poll_step`, if it knows a trail, and `poll_listed` and
//! `poll_ended`, if it has lists. Do so as well at the time that [`Engine::poll_timeout`] says, should
//! nothing happen before.
//!
//! # Memory
//! The engine owns the numbering of one memory region of
//! [`Config::memory_bytes_max`] bytes, cut into slots of [`BLOCK_BYTES`]. A fetch
//! fills the ranges it was given, in order; nobody else touches them until the
//! fetch has ended. A read that is [`Outcome::Ready`], or whose [`Reply`] is
//! `Ok`, may be copied from the ranges given, which stay as they are until
//! [`Engine::release`].
//!
//! # Writers
//! The engine caches one version of an object's bytes under one [`ObjectId`]. A
//! writer stores its bytes in the backend first and then calls
//! [`Engine::invalidate`] (or [`Engine::resize`]) before it acknowledges the
//! write: from that call on no read is answered from what was cached or in
//! flight before it.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod ablation;
mod advice;
mod cache;
mod config;
mod device;
mod engine;
mod events;
mod explain;
pub mod kernel;
mod objects;
mod policy;
pub mod profile;
mod reads;
mod recent;
mod scatter;
mod scheduler;
mod table;
mod types;
mod walk;

pub use advice::Advice;
pub use config::{Config, ConfigError, PolicyKind, UnknownPolicy};
pub use engine::Engine;
pub use events::{Counters, Event};
pub use explain::{
    AccountReport, ByClass, Class, ClassCounters, End, ListReport, ObjectReport, StreamReport, Why,
};
pub use policy::List;
pub use types::*;
