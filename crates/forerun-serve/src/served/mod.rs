//! The objects that servers of directories show: their names, their attributes, and those that are open.

mod buckets;
mod kept;
mod names;
mod shown;

pub(crate) use buckets::Bucket;
pub use buckets::Buckets;
pub(crate) use names::{child_path, is_name, parent_of};
pub(crate) use shown::{Defaults, Shown, file_type};
