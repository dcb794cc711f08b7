//! The first request: the kernel and a file system agree on capabilities.

use super::fields::{Fields, TooShort};
use super::payload::{put, put_u32};
use super::{Malformed, REQUEST_BYTES_MAX};

/// Capabilities of kernel and file system, one bit each.
#[allow(missing_docs, reason = "the names are those of the kernel's fuse.h")]
pub mod capabilities {
    pub const ASYNC_READ: u64 = 1;
    pub(crate) const BIG_WRITES: u64 = 1 << 5;
    pub const DO_READDIRPLUS: u64 = 1 << 13;
    pub const READDIRPLUS_AUTO: u64 = 1 << 14;
    pub const ASYNC_DIO: u64 = 1 << 15;
    pub const PARALLEL_DIROPS: u64 = 1 << 18;
    pub(crate) const MAX_PAGES: u64 = 1 << 22;
    pub const CACHE_SYMLINKS: u64 = 1 << 23;
    /// Whether the upper half of the number is present.
    pub(crate) const INIT_EXT: u64 = 1 << 30;
    pub const PASSTHROUGH: u64 = 1 << 37;
    pub const NO_EXPORT_SUPPORT: u64 = 1 << 38;
}

/// The version of the protocol: 7.40 has passthrough.
const VERSION: (u32, u32) = (7, 40);
/// Before 7.23 (Linux 3.15) the answer has another length.
const MINOR_MIN: u32 = 23;
/// The smallest page size. The kernel takes fewer pages where they are larger.
const PAGE_BYTES: u32 = 4096;

/// The kernel's offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    pub(crate) unique: u64,
    version: (u32, u32),
    readahead_bytes_max: u32,
    capabilities: u64,
}

/// The file system's requests.
#[derive(Clone, Copy, Debug)]
pub struct Wishes {
    /// Bits of [`capabilities`]. Those that the kernel does not offer are left out.
    pub capabilities: u64,
    /// Limit of the kernel's readahead, if lower than its offer.
    pub readahead_bytes_max: u32,
    /// Limit of background requests in flight.
    pub background_requests_max: u16,
    /// Background requests in flight at which the kernel begins to hold back.
    pub congested_requests: u16,
    /// How many file systems may be stacked, if files are passed through.
    pub stack_depth_max: u32,
}

impl Offer {
    /// Decodes an offer.
    ///
    /// # Errors
    /// [`Malformed`] if `bytes` are another request, or none.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Offer, Malformed> {
        const INIT: u32 = 26;
        let mut head = Fields(bytes);
        let unique = (|| {
            head.bytes(4)?;
            let opcode = head.u32()?;
            let unique = head.u64()?;
            head.bytes(24)?;
            if opcode == INIT { Ok(unique) } else { Err(TooShort) }
        })();
        let unique = unique.map_err(|TooShort| Malformed { unique: None })?;
        Offer::fields(unique, head).map_err(|TooShort| Malformed { unique: Some(unique) })
    }

    fn fields(unique: u64, mut fields: Fields<'_>) -> Result<Offer, TooShort> {
        let version = (fields.u32()?, fields.u32()?);
        let readahead_bytes_max = fields.u32()?;
        let mut capabilities = u64::from(fields.u32()?);
        if capabilities & capabilities::INIT_EXT != 0 {
            capabilities |= u64::from(fields.u32()?) << 32;
        }
        Ok(Offer { unique, version, readahead_bytes_max, capabilities })
    }

    /// Whether the kernel's protocol is this one.
    pub(crate) fn is_supported(&self) -> bool {
        self.version.0 == VERSION.0 && self.version.1 >= MINOR_MIN
    }

    /// The version of the kernel's protocol.
    pub(crate) fn version(&self) -> (u32, u32) {
        self.version
    }

    /// The bits of `capabilities` that the kernel lacks.
    pub fn lacks(&self, capabilities: u64) -> u64 {
        capabilities & !self.capabilities
    }

    /// The answer with the agreed capabilities.
    pub(crate) fn accept(&self, wishes: &Wishes) -> Vec<u8> {
        use capabilities::{BIG_WRITES, INIT_EXT, MAX_PAGES};
        let agreed = (wishes.capabilities | BIG_WRITES | MAX_PAGES | INIT_EXT) & self.capabilities;
        let mut bytes = Vec::with_capacity(64);
        let readahead = wishes.readahead_bytes_max.min(self.readahead_bytes_max);
        put_u32(&mut bytes, [VERSION.0, VERSION.1, readahead, agreed as u32]);
        for number in [wishes.background_requests_max, wishes.congested_requests] {
            bytes.extend_from_slice(&number.to_ne_bytes());
        }
        // Times are kept to the nanosecond.
        put_u32(&mut bytes, [REQUEST_BYTES_MAX, 1]);
        let pages = (REQUEST_BYTES_MAX / PAGE_BYTES) as u16;
        [pages, 0].iter().for_each(|number| bytes.extend_from_slice(&number.to_ne_bytes()));
        put_u32(&mut bytes, [(agreed >> 32) as u32, wishes.stack_depth_max]);
        put(&mut bytes, [0; 3]);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn init(numbers: &[u32]) -> Vec<u8> {
        let head = [40 + 4 * numbers.len() as u32, 26, 1, 0, 0, 0, 0, 0, 0, 0];
        head.iter().chain(numbers).flat_map(|number| number.to_ne_bytes()).collect()
    }

    const WISHES: Wishes = Wishes {
        capabilities: capabilities::ASYNC_READ | capabilities::PASSTHROUGH,
        readahead_bytes_max: 4096,
        background_requests_max: 64,
        congested_requests: 48,
        stack_depth_max: 2,
    };

    #[test]
    fn only_capabilities_of_both_are_agreed_on() {
        let offer = Offer::decode(&init(&[7, 45, 131072, 1 | 1 << 30, 1 << 5, 0])).unwrap();
        assert!(offer.is_supported());
        assert_eq!(offer.lacks(WISHES.capabilities | capabilities::ASYNC_DIO), capabilities::ASYNC_DIO);
        let answer = offer.accept(&WISHES);
        assert_eq!(answer.len(), 64);
        let short = |at: usize| u32::from_ne_bytes(answer[at..at + 4].try_into().unwrap());
        assert_eq!([0, 4, 8, 12].map(short), [7, 40, 4096, 1 | 1 << 30]);
        assert_eq!([20, 24, 32, 36].map(short), [1 << 20, 1, 1 << 5, 2]);
    }

    #[test]
    fn an_older_kernel_offers_half_as_many() {
        let offer = Offer::decode(&init(&[7, 31, 4096, 1])).unwrap();
        assert_eq!(offer.lacks(WISHES.capabilities), capabilities::PASSTHROUGH);
        assert!(!Offer::decode(&init(&[7, 22, 4096, 1])).unwrap().is_supported());
    }

    #[test]
    fn another_first_request_is_no_offer() {
        let mut other = init(&[7, 40, 0, 0]);
        other[4] = 3;
        assert_eq!(Offer::decode(&other), Err(Malformed { unique: None }));
        assert_eq!(Offer::decode(&init(&[7, 40, 0])), Err(Malformed { unique: Some(1) }));
        assert_eq!(Offer::decode(&init(&[7, 40, 0, 1 << 30])), Err(Malformed { unique: Some(1) }));
        assert_eq!(Offer::decode(&[]), Err(Malformed { unique: None }));
    }
}
