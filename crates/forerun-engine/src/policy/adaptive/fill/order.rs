//! Whether reads that belong to no stream come back to what they have passed.
//!
//! A reader who leaves most of an object out but goes up all the time comes to a place
//! once. What lies behind it is worth nothing, however often it had to wait there.

/// Steps that count.
const STEPS_MAX: u32 = 32;
/// Where there is no order, one of so many goes the other way at least.
const TURN_SHARE: u32 = 8;
/// And fewer may be by chance.
const TURNS_MIN: u32 = 2;

/// See the module's page: which way each read was from the one before.
#[derive(Debug, Default)]
pub(super) struct Order {
    last: u64,
    ups: u32,
    downs: u32,
}

impl Order {
    /// A read at `offset`.
    pub(super) fn note(&mut self, offset: u64) {
        self.ups += u32::from(offset > self.last);
        self.downs += u32::from(offset < self.last);
        self.last = offset;
        if self.ups + self.downs > STEPS_MAX {
            self.ups -= self.ups / 2;
            self.downs -= self.downs / 2;
        }
    }

    /// Readers come back to what they have passed.
    pub(super) fn is_none(&self) -> bool {
        let fewer = self.ups.min(self.downs);
        fewer >= TURNS_MIN && fewer * TURN_SHARE >= self.ups + self.downs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_none(offsets: impl IntoIterator<Item = u64>) -> bool {
        let mut order = Order::default();
        offsets.into_iter().for_each(|offset| order.note(offset));
        order.is_none()
    }

    #[test]
    fn who_goes_one_way_is_in_order() {
        assert!(!is_none(0..1000) && !is_none((0..1000).rev()));
        // Who begins again from time to time is, too.
        assert!(!is_none((0..1000).map(|at| at % 50)));
    }

    #[test]
    fn who_comes_back_is_not() {
        assert!(is_none((0..1000).map(|at| at * at * 7919 % 1009)));
        assert!(is_none([20, 7, 30, 12]));
        assert!(!is_none([20, 7, 30]), "that may be chance");
        assert!(is_none((0..1000).chain((0..40).map(|at| at * at * 7919 % 1009))), "it changed");
    }
}
