//! Experiments: workload, policy, device, memory and seed in; tables, files and
//! reports out.
//!
//! * [`outcome`] is what one cell of an experiment came to; everything else either
//!   makes outcomes or shows them.
//! * [`workload`] is a trace file to replay, [`replay`] replays a grid of them.
//! * [`rows`] runs the standard workloads, which are programs and not recordings, under
//!   every policy; [`seeds`] makes published tables again.
//! * [`gates`] checks what `adaptive` promises, on everything there is to replay; [`quick`] compares
//!   two policies or builds in minutes.
//! * [`slow_readers`] compares policies for many slow readers, and [`sharing`] tells how fairly clients
//!   share.
//! * [`compare`] tells which policies differ, by [`stats`]; [`show`] and [`export`]
//!   make tables and files of outcomes.
//! * [`table`] and [`work`] are for any experiment: aligned text, and all cores.
//! * [`fidelity`] predicts what a mount does, to be compared with what it really does.
//! * [`live`] makes the accesses of a source in real time.
//! * [`timeline`] keeps what happened in a run, [`report`] makes a page of outcomes and timelines.

#![forbid(unsafe_code)]

pub mod compare;
pub mod error;
pub mod export;
pub mod fidelity;
pub mod gates;
pub mod live;
pub mod outcome;
pub mod quick;
pub mod replay;
pub mod report;
pub mod rows;
pub mod seeds;
pub mod sharing;
pub mod show;
pub mod slow_readers;
pub mod stats;
pub mod table;
pub mod timeline;
pub mod work;
pub mod workload;
