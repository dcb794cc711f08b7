//! Whether a plan is believed.
//!
//! Reads beside the plan raise doubt, and reads of it lower doubt. At too much doubt, or after too many
//! skipped bytes, the plan is suspended until there is no doubt left. That takes twice as many reads each
//! time.

/// Reads beside the plan, less those of it, at which it is not believed any more.
const DOUBT_MAX: u32 = 16;

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Belief {
    doubt: u32,
    failed_count: u32,
    is_suspended: bool,
}

impl Belief {
    /// A read followed the plan.
    pub(super) fn confirm(&mut self) {
        self.doubt = self.doubt.saturating_sub(1);
    }

    /// A reader had to wait for bytes that are not in the plan.
    pub(super) fn doubt(&mut self) {
        self.doubt = self.doubt.saturating_add(1);
    }

    /// True once when the plan is suspended: at too much doubt, or if it `is_left_out`.
    pub(super) fn lets_go(&mut self, is_left_out: bool) -> bool {
        if self.is_suspended {
            self.is_suspended = self.doubt > 0;
            return false;
        }
        if !is_left_out && self.doubt < DOUBT_MAX {
            return false;
        }
        self.doubt = DOUBT_MAX.saturating_mul(2_u32.saturating_pow(self.failed_count));
        self.failed_count += 1;
        self.is_suspended = true;
        true
    }

    pub(super) fn is_suspended(&self) -> bool {
        self.is_suspended
    }

    /// How often it was suspended.
    pub(super) fn failed_count(&self) -> u32 {
        self.failed_count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_it_takes_twice_as_many_reads_to_be_believed_again() {
        let mut belief = Belief::default();
        let mut reads_until_believed = || {
            while !belief.lets_go(false) {
                belief.doubt();
            }
            (1..).find(|_| {
                belief.confirm();
                belief.lets_go(false);
                !belief.is_suspended()
            })
        };
        let reads = [(); 3].map(|()| reads_until_believed());
        assert_eq!(reads, [1, 2, 4].map(|times| Some(times * u64::from(DOUBT_MAX))));
    }
}
