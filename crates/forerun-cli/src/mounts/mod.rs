//! The mounts of Forerun on this machine: `forerun list` and `forerun unmount`.

mod holders;
mod list;
mod table;
mod unmount;

pub(crate) use list::ListCommand;
pub(crate) use unmount::UnmountCommand;
