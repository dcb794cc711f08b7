//! Every decision Forerun makes, and none of its I/O.
//!
//! The driver reports reads and the results of fetches. The engine answers with fetches to start, fetches to
//! cancel and replies to readers. It never sees bytes, paths, clocks, threads or randomness. Time is an
//! argument, and memory is a number. The same calls in the same order give the same answers on any machine.
//!
//! There are four kinds of call and no fifth:
//!
//! * **getters** look and change nothing;
//! * **commands** come from readers: [`Engine::open`], [`Engine::read`], [`Engine::release`],
//!   [`Engine::advise`], [`Engine::invalidate`], [`Engine::close`] …;
//! * **`handle_*`** report events: bytes arrived, a fetch ended;
//! * **`poll_*`** return the next action: a [`Fetch`] to start, a [`FetchId`] to cancel, a [`Reply`] to
//!   give.
//!
//! After every command and every `handle_*` call, call these in order, each until it returns `None`:
//!
//! * `poll_entry`, if the driver reports listings, and `poll_step`, if it knows a trail;
//! * `poll_listed` and `poll_ended`, if it has lists;
//! * `poll_fetch`, `poll_cancel` and `poll_reply`.
//!
//! Do the same at the time that [`Engine::poll_timeout`] returns, if nothing happens before.
//!
//! # Memory
//! The engine numbers the blocks of one memory region of [`Config::memory_bytes_max`] bytes, cut into slots
//! of [`BLOCK_BYTES`]. A fetch fills the ranges it was given, in order. No one else touches them until the
//! fetch has ended. The bytes of a read that is [`Outcome::Ready`], or whose [`Reply`] is `Ok`, may be copied
//! from the ranges given. They stay there until [`Engine::release`].
//!
//! # Writers
//! The engine caches one version of an object's bytes under one [`ObjectId`]. A writer stores its bytes in
//! the backend first. It calls [`Engine::invalidate`] (or [`Engine::resize`]) before it acknowledges the
//! write. Bytes cached or in flight before that call never answer a later read.

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
pub use config::{Config, ConfigError, PolicyChoice};
pub use engine::{Engine, Usage};
pub use events::{Counters, Event};
pub use explain::{
    AccountReport, ByClass, Class, ClassCounters, End, ListReport, ObjectReport, StreamReport, Why,
};
pub use policy::{CustomPolicy, List, PolicyRead, PolicyRules, PolicyView, Wishes};
pub use types::*;
