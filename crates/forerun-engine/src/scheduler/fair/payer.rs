//! Those for whom something is fetched, and their part of it.

use crate::types::{ClientId, ReaderId};

/// For whom something is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Payer {
    pub(crate) client: ClientId,
    /// [`ReaderId::NOBODY`] if no reader has asked for anything there yet.
    pub(crate) reader: ReaderId,
}

/// A part, or several times the whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Favour {
    pub(super) times: u64,
    pub(super) of: u64,
}

impl Default for Favour {
    fn default() -> Favour {
        Favour { times: 1, of: 1 }
    }
}

impl Favour {
    /// That part of `bytes`.
    pub(crate) fn of(self, bytes: u64) -> u64 {
        (u128::from(bytes) * u128::from(self.times) / u128::from(self.of)) as u64
    }
}
