//! What the library promises to its users.

mod bytes;
mod changed;
mod errors;
mod explain;
mod flight;
mod gate;
mod late;
mod learned;
mod lending;
mod lease;
mod lists;
mod metadata;
mod shutdown;
