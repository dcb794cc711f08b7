//! The window of one stream: its size, the rule that decided it, and the trigger of the next one.

use crate::explain::Why;

/// Windows end at multiples of this.
pub(super) const GRAIN: u64 = 64 << 10;

/// See the module's page.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sizing {
    /// Bytes to keep ahead; 0 until the first read decides.
    pub(super) window: u64,
    /// The window grows when the frontier gets here.
    pub(super) trigger: u64,
    /// Nothing is planned before the frontier gets here.
    pub(super) quiet_until: u64,
    /// The reader has waited since for planned bytes.
    pub(super) late: bool,
    /// It did not before that.
    pub(super) is_fed: bool,
    /// The rule that decided the bytes that are kept ahead, and those bytes.
    pub(super) why: Why,
    pub(super) kept: u64,
}

impl Sizing {
    /// A read of the stream, which waited for planned bytes if it was `late`.
    pub(super) fn record_wait(&mut self, late: bool) {
        self.late |= late;
    }

    /// Whether a read up to `frontier` changes nothing.
    pub(super) fn is_quiet(&self, frontier: u64) -> bool {
        frontier < self.quiet_until && !self.late
    }
}
