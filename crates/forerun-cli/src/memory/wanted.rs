//! How much memory is wanted at a moment.

/// The share of the machine, or of the control group, that data take at most.
const SHARE: u64 = 2;
/// The share that stays free.
const FREE_SHARE: u64 = 16;
/// Under pressure a quarter of the data goes at a time.
const PRESSED_SHARE: u64 = 4;
/// It grows by this share of its most at a time.
const GROWTH_SHARE: u64 = 32;
/// The least that works.
const BYTES_MIN: u64 = 8 << 20;

/// The most memory for data where all programs together have `limit` bytes.
pub(super) fn share_of(limit: u64) -> u64 {
    // The process itself needs an eighth more, and something besides.
    let own = (limit / SHARE).saturating_sub(super::limit::PROCESS_BYTES);
    (own / 9 * 8).max(BYTES_MIN) >> 20 << 20
}

/// The memory at one moment, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// For all programs together.
    pub(super) limit: u64,
    /// The part that none of them uses.
    pub(super) left: u64,
    /// Programs wait for memory, or the system looks for some.
    pub(super) is_pressed: bool,
    /// The most that data may take until now.
    pub(super) kept: u64,
    /// The part that they take.
    pub(super) used: u64,
}

impl Moment {
    /// The most that data may take from now on, up to `most`.
    pub(super) fn wanted(&self, most: u64) -> u64 {
        let room = self.used.saturating_add(self.left).saturating_sub(self.limit / FREE_SHARE);
        let fitting = room.min(share_of(self.limit)).min(most);
        let wanted = if self.is_pressed {
            fitting.min(self.used - self.used / PRESSED_SHARE)
        } else {
            fitting.min(self.kept + most / GROWTH_SHARE)
        };
        wanted.max(BYTES_MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const CALM: Moment =
        Moment { limit: 1024 * MIB, left: 600 * MIB, is_pressed: false, kept: 400 * MIB, used: 300 * MIB };

    #[test]
    fn data_take_less_than_half() {
        assert_eq!(share_of(1024 * MIB), 419 * MIB);
        assert_eq!(share_of(10 * MIB), BYTES_MIN);
    }

    #[test]
    fn it_grows_step_by_step_up_to_its_most() {
        let grown = CALM.wanted(418 * MIB);
        assert!(grown > 400 * MIB && grown <= 414 * MIB, "{grown}");
        assert_eq!(CALM.wanted(405 * MIB), 405 * MIB);
    }

    #[test]
    fn a_sixteenth_stays_free() {
        assert_eq!(Moment { left: 0, ..CALM }.wanted(418 * MIB), (300 - 64) * MIB);
        assert_eq!(Moment { left: 0, used: 0, ..CALM }.wanted(418 * MIB), BYTES_MIN);
    }

    #[test]
    fn it_falls_at_once_with_the_limit_and_under_pressure() {
        assert_eq!(Moment { limit: 512 * MIB, ..CALM }.wanted(418 * MIB), share_of(512 * MIB));
        assert_eq!(Moment { is_pressed: true, ..CALM }.wanted(418 * MIB), 225 * MIB);
    }
}
