//! Requests of the kernel: the threads that receive them, and their way back.

mod channel;
mod reply;
mod threads;

pub(crate) use channel::{Backing, Channel, DEVICE};
pub use reply::Reply;
pub(crate) use threads::{Queues, Session, end_of};

use super::protocol::{Offer, Request, Wishes};

/// What answers the kernel.
pub trait Filesystem: Send + Sync + 'static {
    /// What it asks of the kernel, which offers `offer`.
    fn greet(&self, offer: &Offer) -> Wishes;

    /// Answers `request` by `reply`, now or later. The calling thread receives further requests, so
    /// it must not wait.
    fn answer(&self, request: Request<'_>, reply: Reply);

    /// The kernel has forgotten `lookups` lookups of `inode`.
    fn forget(&self, _inode: u64, _lookups: u64) {}

    /// A signal came for the thread that waits for the request `unique`, which may not have
    /// arrived yet or have been answered. The kernel says so once for each request.
    fn interrupt(&self, _unique: u64) {}
}
