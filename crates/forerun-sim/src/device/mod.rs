//! Devices: the trait that all models share.

pub mod disk;
mod latency;
mod luck;
mod network;
pub mod preset;
mod provisioned;
mod raid;
mod stations;
mod tally;

pub use disk::{Disk, DiskSpec};
pub use forerun_engine::Time;
pub use latency::Latency;
pub use network::{Network, NetworkSpec, PACKET_BYTES};
pub use preset::{Costs, Preset};
pub use provisioned::{Provisioned, ProvisionedSpec};
pub use raid::{Level, Raid};
pub use stations::{Placement, Stations, StationsSpec};

/// A request's name, given by whoever submits it and never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// The direction of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Bytes come from the device.
    Read,
    /// Bytes go to the device.
    Write,
}

/// One request to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its name.
    pub id: RequestId,
    /// First byte on the device.
    pub address: u64,
    /// Length in bytes, not 0.
    pub len: u64,
    /// Read or write.
    pub direction: Direction,
    /// The process that it is made for: some elevators share by it.
    pub issuer: u32,
    /// Somebody waits for it now; otherwise it is readahead or writeback.
    pub urgent: bool,
}

impl Request {
    /// One past its last byte on the device.
    pub fn end(&self) -> u64 {
        self.address + self.len
    }
}

/// News of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The first `bytes` of a read have arrived.
    Progress {
        /// Which request.
        id: RequestId,
        /// In total.
        bytes: u64,
    },
    /// The request is complete.
    Done {
        /// Which request.
        id: RequestId,
    },
}

/// Sums over a device's life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceStats {
    /// Reads that the hardware carried out, after merging.
    pub read_count: u64,
    /// Bytes of them.
    pub read_bytes: u64,
    /// Writes that the hardware carried out, after merging.
    pub write_count: u64,
    /// Bytes of them.
    pub write_bytes: u64,
    /// Nanoseconds in which at least one request was being served.
    pub busy_ns: u64,
}

/// A device in virtual time.
///
/// The caller moves time: it never skips a moment that [`Device::next_time`] names.
pub trait Device {
    /// Takes a request. There is no limit: what cannot be served yet waits inside.
    fn submit(&mut self, now: Time, request: Request);

    /// Gives up a request that was submitted and is not done. True if it will not
    /// be heard of again; false if it is carried out all the same.
    fn cancel(&mut self, _now: Time, _id: RequestId) -> bool {
        false
    }

    /// When something happens next, if nobody submits anything before.
    fn next_time(&self) -> Option<Time>;

    /// Time is `now`, at most [`Device::next_time`]: adds what has happened to
    /// `notices`, in order.
    fn advance(&mut self, now: Time, notices: &mut Vec<Notice>);

    /// How many requests the hardware serves at once; an elevator above it hands
    /// over no more.
    fn slot_count(&self) -> usize;

    /// A client that submitted requests is about to wait. Nothing is held back any longer in the hope of a
    /// merge.
    fn unplug(&mut self, _now: Time) {}

    /// Sums until now.
    fn stats(&self) -> DeviceStats;
}

impl<D: Device + ?Sized> Device for Box<D> {
    fn submit(&mut self, now: Time, request: Request) {
        (**self).submit(now, request);
    }

    fn cancel(&mut self, now: Time, id: RequestId) -> bool {
        (**self).cancel(now, id)
    }

    fn next_time(&self) -> Option<Time> {
        (**self).next_time()
    }

    fn advance(&mut self, now: Time, notices: &mut Vec<Notice>) {
        (**self).advance(now, notices);
    }

    fn slot_count(&self) -> usize {
        (**self).slot_count()
    }

    fn unplug(&mut self, now: Time) {
        (**self).unplug(now);
    }

    fn stats(&self) -> DeviceStats {
        (**self).stats()
    }
}
