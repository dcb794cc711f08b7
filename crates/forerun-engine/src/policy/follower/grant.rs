//! The bytes that a policy grants its follower.

/// The bytes that one follower may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grant {
    /// Bytes ahead of a reader: as many as keep the device busy.
    pub(crate) bytes: u64,
    /// And at most, once it is known that they will be read.
    pub(crate) bytes_max: u64,
    /// Windows that still fit into the queue.
    pub(crate) window_room: usize,
    /// Batches are fetched in order of address, each as large as all before it together.
    pub(crate) by_address: bool,
}

/// Returns the grant of one follower, by the number of orders that are being read.
pub(crate) type Grants<'a> = &'a dyn Fn(u64) -> Grant;
