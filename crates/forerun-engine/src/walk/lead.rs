//! How many files a walk keeps ahead of its reader.
//!
//! The lead grows while openings had to wait and shrinks to what pace and service time
//! call for when it is far larger.

use super::Share;
use crate::types::Time;

/// Files ahead of a walk that has just been found.
const LEAD_MIN: u32 = 4;
/// And of one that is only guessed at.
const LEAD_GUESS_MAX: u32 = 16;

/// See the module's page. Positions are places along the walk's way.
#[derive(Debug)]
pub(super) struct Lead {
    files: u32,
    /// It may grow again when the position gets here, and may shrink there.
    growth: u32,
    turn: u32,
    late: bool,
    /// When it was reconsidered, and how many files were opened by then.
    turned: (Time, u32),
}

impl Lead {
    pub(super) fn new(now: Time) -> Lead {
        Lead { files: LEAD_MIN, growth: 0, turn: LEAD_MIN, late: false, turned: (now, 0) }
    }

    /// That of a walk that may be like one with this lead.
    pub(super) fn of_guess(&self, now: Time) -> Lead {
        Lead { files: self.files.clamp(LEAD_MIN, LEAD_GUESS_MAX), ..Lead::new(now) }
    }

    pub(super) fn files(&self) -> u32 {
        self.files
    }

    /// Memory is short: what was read ahead, up to `planned`, was evicted.
    pub(super) fn shorten(&mut self, planned: u32) {
        self.files = (self.files / 2).max(1);
        self.growth = planned;
    }

    /// The reader of a file of the walk, which is at `position`, had to wait.
    pub(super) fn wait(&mut self, position: u32, share: &Share) {
        self.late = true;
        if position >= self.growth {
            let more = self.files * if self.files < share.files_max / 4 { 4 } else { 2 };
            self.files = more.min(share.files_max);
            self.growth = position.saturating_add(self.files);
        }
    }

    /// A walk that did not have to wait for a whole lead may need less.
    pub(super) fn reconsider(&mut self, now: Time, position: u32, opened_count: u32, share: &Share) {
        if position < self.turn {
            return;
        }
        let (then, count) = self.turned;
        if !self.late {
            let opened = u64::from(opened_count - count);
            let needed = 2 * opened.saturating_mul(share.service_ns) / now.since(then).max(1) + 4;
            let needed = needed.min(u64::from(u32::MAX)) as u32;
            if self.files > needed.saturating_mul(2) {
                self.files = needed.max(self.files / 2);
            }
        }
        self.late = false;
        self.turned = (now, opened_count);
        self.turn = position.saturating_add(self.files);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const SHARE: Share = Share { files_max: 192, bytes_max: u64::MAX, service_ns: 10 * MS };

    #[test]
    fn it_grows_once_for_each_lead_that_had_to_wait() {
        let mut lead = Lead::new(Time(0));
        lead.wait(0, &SHARE);
        lead.wait(1, &SHARE);
        assert_eq!(lead.files(), 16);
        lead.wait(16, &SHARE);
        lead.wait(80, &SHARE);
        lead.wait(1000, &SHARE);
        assert_eq!(lead.files(), 192);
    }

    #[test]
    fn it_shrinks_to_what_the_pace_calls_for() {
        let mut lead = Lead::new(Time(0));
        (0..4).for_each(|round| lead.wait(round * 200, &SHARE));
        assert_eq!(lead.files(), 192);
        // Whoever had to wait keeps it; a file every 5 ms needs two, twice, and some more.
        let mut now = 0;
        for position in 800..2000 {
            now += 5 * MS;
            lead.reconsider(Time(now), position, position, &SHARE);
        }
        assert!((8..=16).contains(&lead.files()), "{}", lead.files());
        lead.shorten(3000);
        lead.wait(2000, &SHARE);
        assert!(lead.files() <= 8, "memory is short");
    }
}
