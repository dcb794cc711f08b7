//! The memory of a mount or a server:
//! * [`size`]: how much a user gives;
//! * [`mod@limit`] and [`group`]: how much there is;
//! * [`follow`] and [`wanted`]: how it follows what is left;
//! * [`allocator`]: how little of it stays in the process after use.

pub(crate) mod allocator;
mod follow;
mod group;
mod limit;
mod size;
mod wanted;

pub(crate) use follow::Following;
pub(crate) use limit::{Limit, doubt, limit, needed};
pub(crate) use size::MemorySize;
