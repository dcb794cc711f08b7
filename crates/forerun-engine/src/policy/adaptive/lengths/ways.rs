//! Which way runs go from their first read, and whether their readers look at the far end next.
//!
//! A copy of mapped memory does: it touches the first page, the last, and then all others, up or
//! down.

/// The count of runs that go down is no larger, so that half as many runs upward change it.
const RUNS_MAX: u8 = 8;
/// The end of a run is fetched first once the count of looks is this large.
const LOOKS_MIN: u8 = 2;
const LOOKS_MAX: u8 = 4;

/// See the module's page. In one byte, since every object has one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ways(u8);

impl Ways {
    /// How many of the last runs went down, as far as others did not go up since.
    fn downs(self) -> u8 {
        self.0 & 0xF
    }

    /// How many more were looked at than not.
    fn looks(self) -> u8 {
        self.0 >> 4
    }

    /// A run is over.
    pub(crate) fn note(&mut self, is_up: bool) {
        let downs = if is_up { self.downs().saturating_sub(1) } else { (self.downs() + 1).min(RUNS_MAX) };
        *self = Ways(self.looks().saturating_sub(1) << 4 | downs);
    }

    /// The end of one was read before what lies between.
    pub(crate) fn note_look(&mut self) {
        *self = Ways((self.looks() + 2).min(LOOKS_MAX) << 4 | self.downs());
    }

    /// Whether the next run goes down.
    pub(crate) fn go_down(self) -> bool {
        self.downs() > RUNS_MAX / 2
    }

    /// Whether its reader looks at its end first.
    pub(crate) fn are_looked_at(self) -> bool {
        self.looks() >= LOOKS_MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_of_the_last_runs_count() {
        let mut ways = Ways::default();
        assert!(!ways.go_down());
        (0..RUNS_MAX / 2).for_each(|_| ways.note(false));
        assert!(!ways.go_down());
        ways.note(false);
        assert!(ways.go_down());
        (0..100).for_each(|_| ways.note(false));
        (0..RUNS_MAX / 2).for_each(|_| ways.note(true));
        assert!(!ways.go_down());
    }

    #[test]
    fn who_looked_at_ends_does_so_again() {
        let mut ways = Ways::default();
        ways.note_look();
        ways.note(true);
        assert!(!ways.are_looked_at(), "once");
        ways.note_look();
        assert!(ways.are_looked_at());
        (0..LOOKS_MAX).for_each(|_| ways.note(true));
        assert!(!ways.are_looked_at(), "not any more");
    }
}
