//! Sessions with the kernel: the threads that receive requests, and the replies.

mod channel;
mod reply;
mod threads;

pub(crate) use channel::{Backing, Channel, DEVICE};
pub use reply::Reply;
pub(crate) use threads::{Queues, Session, end_of};

use super::protocol::{Offer, Request, Wishes};

/// A file system that answers the kernel.
pub trait Filesystem: Send + Sync + 'static {
    /// Answers the kernel's `offer` at the start.
    fn greet(&self, offer: &Offer) -> Wishes;

    /// Answers `request` by `reply`, now or later. The calling thread receives further requests, so
    /// it must not wait.
    fn answer(&self, request: Request<'_>, reply: Reply);

    /// The kernel has forgotten `lookups` lookups of `inode`.
    fn forget(&self, _inode: u64, _lookups: u64) {}

    /// A signal came for the thread that waits for the request `unique`. The kernel tells it once
    /// for each request, which may not have arrived yet or may have been answered.
    fn interrupt(&self, _unique: u64) {}
}
