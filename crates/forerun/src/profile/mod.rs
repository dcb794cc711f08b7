//! The extents of each object that earlier runs have read, and this one.

mod contents;
mod cut;
mod file;
mod join;
mod learner;
mod run;
mod text;
mod touched;
mod update;

pub use contents::{Profile, ProfiledObject};
pub use join::ProfileMerge;
pub(crate) use learner::Learner;
