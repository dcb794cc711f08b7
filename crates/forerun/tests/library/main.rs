//! The promises of the library to its users.

mod awaited;
mod bytes;
mod changed;
mod cursor;
mod errors;
mod explain;
mod flight;
mod gate;
mod giving_up;
mod late;
mod learned;
mod lease;
mod lending;
mod lists;
#[cfg(debug_assertions)]
mod locks;
mod metadata;
mod resized;
mod runtimes;
mod shutdown;
mod written;
