//! The bytes that a policy grants its follower.

/// The bytes that one follower may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grant {
    /// Bytes ahead of a reader: as many as keep the device busy.
    pub(crate) bytes: u64,
    /// And at most, once it is known that they will be read.
    pub(crate) bytes_max: u64,
    /// How many windows there is room for.
    pub(crate) window_room: usize,
    /// Batches are fetched in order of address, each as large as all before it together.
    pub(crate) by_address: bool,
}

/// Says what one may have where so many are read just now.
pub(crate) type Grants<'a> = &'a dyn Fn(u64) -> Grant;
