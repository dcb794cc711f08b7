//! Settings of an engine, given once, when it is made.

use alloc::boxed::Box;
use core::fmt;

use crate::BLOCK_BYTES;
use crate::policy::CustomPolicy;

/// The policy that decides what to read ahead.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum PolicyChoice {
    /// Nothing is ever read ahead.
    None,
    /// Several streams per object, windows from measured latency and rate.
    #[default]
    Adaptive,
    /// The policy that this makes.
    Made(fn(&Config) -> Box<dyn CustomPolicy>),
}

impl PolicyChoice {
    /// Whether it follows advice, profiles, lists and listings of directories.
    pub(crate) fn is_told(self) -> bool {
        matches!(self, PolicyChoice::Adaptive)
    }
}

/// Limits and choices of one engine: [`Config::new`] has the usual ones.
//
// Exhaustive, so that a driver can write `Config { policy, ..Config::new(memory) }`. Fields are only added.
#[derive(Clone, Debug)]
pub struct Config {
    /// Memory for blocks, data in flight included, in bytes. At least
    /// [`Config::MEMORY_BYTES_MIN`].
    pub memory_bytes_max: u64,
    /// The policy.
    pub policy: PolicyChoice,
    /// The least size of a readahead fetch, in bytes, if its window is that large.
    pub fetch_bytes_min: u64,
    /// Ceiling of a fetch, in bytes.
    pub fetch_bytes_max: u64,
    /// Fetches in flight at which no more are started. A read whose bytes lie in
    /// many pieces may pass it by its pieces.
    pub in_flight_count_max: usize,
    /// Ceiling of a window in bytes, for policies that have one. `adaptive` sizes its windows itself.
    pub window_bytes_max: u64,
    /// The size of the storage objects that an object is striped over, in bytes, for policies that ask for
    /// it.
    pub storage_object_bytes: u64,
    /// Objects remembered after their last close, and their cached bytes.
    pub closed_objects_max: usize,
    /// Events kept for [`Engine::poll_event`](crate::Engine::poll_event), the
    /// oldest dropped first; 0 keeps none.
    pub events_max: usize,
}

impl Config {
    /// The smallest budget that works: two reads of [`Config::READ_BYTES_MAX`], with the readahead in their
    /// fetches.
    pub const MEMORY_BYTES_MIN: u64 = 4 << 20;

    /// The largest read the engine takes; longer ones are the driver's to cut.
    pub const READ_BYTES_MAX: u64 = 1 << 20;

    /// Extents of one object that a plan has at most: of advice, or of a profile.
    pub const PLAN_EXTENTS_MAX: usize = 65_536;

    /// `adaptive` may waste one byte for this many used ones.
    pub const USEFUL_SHARE: u64 = 10;

    /// And besides, of each object, half of the memory or this many bytes, whichever is less.
    pub const WASTE_BYTES_PER_OBJECT: u64 = 128 << 20;

    /// The bytes of an object of `size` bytes that `adaptive` may waste beside the share of used bytes. It
    /// is at most twice the object, since unread bytes may be fetched again.
    pub fn waste_bytes_of(&self, size: u64) -> u64 {
        size.saturating_mul(2).min(self.memory_bytes_max / 2).min(Config::WASTE_BYTES_PER_OBJECT)
    }

    /// The most bytes that `adaptive` wastes, as reported by [`Event::Wasted`](crate::Event::Wasted), for
    /// objects of these sizes. `useful_bytes` were fetched and used.
    ///
    /// Gaps that a stream reads through are not counted, because a fetch that leaves them out costs more. A
    /// gap has up to 64 KiB, or on a serial device the cost of a fetch. All gaps have at most four times the
    /// bytes read.
    pub fn waste_bytes_max(&self, useful_bytes: u64, object_sizes: impl IntoIterator<Item = u64>) -> u64 {
        let of_objects = object_sizes.into_iter().map(|size| self.waste_bytes_of(size)).sum::<u64>();
        useful_bytes / Config::USEFUL_SHARE + of_objects
    }

    /// The usual limits with `memory_bytes_max` of memory.
    pub fn new(memory_bytes_max: u64) -> Config {
        Config {
            memory_bytes_max,
            policy: PolicyChoice::default(),
            // Below it, requests to a store cost more than their bytes.
            fetch_bytes_min: 256 << 10,
            fetch_bytes_max: 8 << 20,
            in_flight_count_max: 128,
            window_bytes_max: 4 << 20,
            //= seed 003
            storage_object_bytes: 4 << 20,
            closed_objects_max: 16_384,
            events_max: 0,
        }
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let slots = self.memory_bytes_max / BLOCK_BYTES;
        if self.memory_bytes_max < Self::MEMORY_BYTES_MIN || slots > u64::from(u32::MAX) {
            return Err(ConfigError::Memory { bytes: self.memory_bytes_max });
        }
        if self.fetch_bytes_max < BLOCK_BYTES || self.in_flight_count_max == 0 {
            return Err(ConfigError::Fetch);
        }
        if self.storage_object_bytes == 0 {
            return Err(ConfigError::StorageObject);
        }
        Ok(())
    }
}

/// A configuration that no engine can keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The memory budget is below the least that works, or past what slots count.
    Memory {
        /// The value that was asked for.
        bytes: u64,
    },
    /// A fetch must be allowed a block and one must be allowed in flight.
    Fetch,
    /// A storage object has at least a byte.
    StorageObject,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::Memory { bytes } => write!(
                f,
                "a memory budget of {bytes} bytes does not work: give at least {} MiB and less than 16 TiB",
                Config::MEMORY_BYTES_MIN >> 20
            ),
            ConfigError::Fetch => f.write_str("at least one fetch of one block must be allowed in flight"),
            ConfigError::StorageObject => {
                f.write_str("storage objects of 0 bytes do not work: give their size")
            }
        }
    }
}

impl core::error::Error for ConfigError {}
