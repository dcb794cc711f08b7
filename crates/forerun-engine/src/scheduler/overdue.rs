//! Fetches whose bytes are late, the first ones or those after a stall, and how often one may be hedged.
//!
//! On object stores one request in some hundreds takes as long as fifty others, and a second request is
//! answered long before it. But if all requests are slow, hedging makes it worse. So only a fetch that is
//! late while others arrive is hedged, and at most one in [`PRICE`] of all.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::types::{FetchId, Time};

/// Fetches that have arrived for each one that may be hedged.
const PRICE: u32 = 20;
/// Of the fetches that arrived since a late one was dispatched, this share may be late as well.
const LATE_SHARE: u64 = 8;

/// The most fetches that may become late. Beyond it, fetches that are over are removed: they pile up behind
/// one that brings nothing for long.
const YOUNG_MAX: usize = 1024;

/// See the module's page.
#[derive(Debug)]
pub(crate) struct Overdue {
    /// Those that may become late, in order of dispatch. May hold some that are over.
    young: VecDeque<(FetchId, Time)>,
    /// Those that are late, likewise.
    late: Vec<FetchId>,
    /// Whether something has changed since the last answer of [`Overdue::take_changed`].
    is_changed: bool,
    /// When it is to be asked at the latest.
    put_off: Option<Time>,
    /// Before that none of those whose bytes come will have stalled.
    stall_due: Option<Time>,
    /// In shares of [`PRICE`].
    credit: u32,
    /// Fetches whose first bytes have come, and the latest moment at which one of them
    /// was dispatched.
    come_count: u64,
    come_dispatched: Time,
}

impl Overdue {
    pub(crate) fn new() -> Overdue {
        Overdue {
            young: VecDeque::new(),
            late: Vec::new(),
            is_changed: false,
            put_off: None,
            stall_due: None,
            credit: PRICE,
            come_count: 0,
            come_dispatched: Time(0),
        }
    }

    /// Fetches whose first bytes have come.
    pub(crate) fn come_count(&self) -> u64 {
        self.come_count
    }

    /// A fetch is dispatched that may be asked for again.
    pub(crate) fn record_dispatch(&mut self, now: Time, fetch: FetchId) {
        self.young.push_back((fetch, now));
    }

    /// The first bytes of one that was dispatched at `dispatched` have come.
    pub(crate) fn record_come(&mut self, dispatched: Time) {
        self.come_count += 1;
        self.come_dispatched = self.come_dispatched.max(dispatched);
        // Four may follow one another.
        self.credit = (self.credit + 1).min(4 * PRICE);
        self.is_changed = true;
    }

    /// One whose bytes come may have stalled at `time`.
    pub(crate) fn watch(&mut self, time: Time) {
        self.stall_due = Some(self.stall_due.map_or(time, |before| before.min(time)));
    }

    /// Whether it is time to look for stalled fetches. [`Overdue::watch`] sets the next time.
    pub(crate) fn take_stall_due(&mut self, now: Time) -> bool {
        self.stall_due.take_if(|due| *due <= now).is_some()
    }

    /// One has stalled.
    pub(crate) fn record_stalled(&mut self, fetch: FetchId) {
        // It may have continued after its last stall.
        if !self.late.contains(&fetch) {
            self.late.push(fetch);
        }
        self.is_changed = true;
    }

    /// One was asked for again.
    pub(crate) fn pay(&mut self) {
        self.credit = self.credit.saturating_sub(PRICE);
        self.is_changed = true;
    }

    /// One failed: the backend may be asked too much.
    pub(crate) fn record_failed(&mut self) {
        self.credit = 0;
    }

    /// Whether one may be asked for again. Those that nobody waits for leave some for others.
    pub(crate) fn can_pay(&self, is_waited_for: bool) -> bool {
        self.credit >= if is_waited_for { PRICE } else { 2 * PRICE }
    }

    /// The hedge was wasted: the first fetch came after all.
    pub(crate) fn record_vain(&mut self) {
        self.credit = self.credit.saturating_sub(PRICE);
    }

    /// The next call of [`Overdue::take_changed`] answers as if something had changed.
    pub(crate) fn record_busy(&mut self) {
        self.is_changed = true;
    }

    /// From `time` on it is to be asked once more, as if something had changed.
    pub(crate) fn put_off(&mut self, time: Time) {
        self.put_off = Some(self.put_off.map_or(time, |before| before.min(time)));
    }

    /// The next time to ask: when a fetch becomes late or may have stalled, or when asking was put off to. A
    /// reader is patient for `patience_ns`.
    pub(crate) fn next_time(
        &mut self,
        patience_ns: u64,
        mut is_awaited: impl FnMut(FetchId) -> bool,
    ) -> Option<Time> {
        while self.young.front().is_some_and(|(fetch, _)| !is_awaited(*fetch)) {
            self.young.pop_front();
        }
        let due = self.young.front().map(|(_, dispatched)| Time(dispatched.0.saturating_add(patience_ns)));
        due.into_iter().chain(self.put_off).chain(self.stall_due).min()
    }

    /// The fetches that are late at `now`, the earliest first. Empty if nothing was hedged, arrived or
    /// became late since the last call.
    pub(crate) fn take_changed(
        &mut self,
        now: Time,
        patience_ns: u64,
        mut is_awaited: impl FnMut(FetchId) -> bool,
    ) -> &[FetchId] {
        if self.young.len() > YOUNG_MAX {
            self.young.retain(|(fetch, _)| is_awaited(*fetch));
        }
        while let Some((fetch, dispatched)) = self.young.front().copied() {
            let is_over = !is_awaited(fetch);
            if !is_over && now.since(dispatched) < patience_ns {
                break;
            }
            self.young.pop_front();
            if !is_over {
                self.late.push(fetch);
                self.is_changed = true;
            }
        }
        if self.put_off.is_some_and(|time| time <= now) {
            (self.put_off, self.is_changed) = (None, true);
        }
        if !core::mem::take(&mut self.is_changed) {
            return &[];
        }
        self.late.retain(|fetch| is_awaited(*fetch));
        &self.late
    }

    /// Whether one that was dispatched, or brought bytes for the last time, at `heard`, when
    /// `come_before` had come, is late beside others that are not.
    pub(crate) fn is_exception(&self, heard: Time, come_before: u64) -> bool {
        let come = self.come_count - come_before;
        let is_overtaken = come > 0 && self.come_dispatched >= heard;
        is_overtaken && self.late.len() as u64 <= 1 + come / LATE_SHARE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: u64 = 100;

    fn dispatched(times: &[u64]) -> Overdue {
        let mut overdue = Overdue::new();
        times.iter().zip(0..).for_each(|(time, id)| overdue.record_dispatch(Time(*time), FetchId(id)));
        overdue
    }

    #[test]
    fn the_oldest_becomes_late_first() {
        let mut overdue = dispatched(&[0, 10, 20]);
        assert_eq!(overdue.next_time(PATIENCE, |_| true), Some(Time(100)));
        assert_eq!(overdue.next_time(PATIENCE, |fetch| fetch.0 > 0), Some(Time(110)));
        assert!(overdue.take_changed(Time(109), PATIENCE, |fetch| fetch.0 > 0).is_empty());
        assert_eq!(overdue.take_changed(Time(110), PATIENCE, |fetch| fetch.0 > 0), [FetchId(1)]);
        assert!(overdue.take_changed(Time(110), PATIENCE, |fetch| fetch.0 > 0).is_empty());
        overdue.record_come(Time(10));
        assert_eq!(overdue.take_changed(Time(120), PATIENCE, |fetch| fetch.0 == 2), [FetchId(2)]);
    }

    #[test]
    fn one_that_never_comes_does_not_keep_all_others() {
        let mut overdue = Overdue::new();
        for id in 0..10 * YOUNG_MAX as u64 {
            overdue.record_dispatch(Time(id), FetchId(id));
            assert!(overdue.take_changed(Time(id), u64::MAX, |fetch| fetch.0 == 0).is_empty());
        }
        assert!(overdue.young.len() <= YOUNG_MAX + 1, "{}", overdue.young.len());
    }

    #[test]
    fn one_is_an_exception_only_beside_others_that_come() {
        let mut overdue = dispatched(&[0, 10, 20]);
        overdue.take_changed(Time(115), PATIENCE, |_| true);
        assert!(!overdue.is_exception(Time(0), 0), "none has come");
        overdue.record_come(Time(20));
        assert!(!overdue.is_exception(Time(0), 0), "two are late and one has come");
        (0..7).for_each(|_| overdue.record_come(Time(20)));
        assert!(overdue.is_exception(Time(0), 0));
        assert!(!overdue.is_exception(Time(21), 0), "those that came were dispatched before");
    }

    #[test]
    fn asking_again_is_paid_for_by_those_that_come() {
        let mut overdue = Overdue::new();
        assert!(overdue.can_pay(true) && !overdue.can_pay(false));
        overdue.pay();
        assert!(!overdue.can_pay(true));
        (0..PRICE).for_each(|_| overdue.record_come(Time(0)));
        assert!(overdue.can_pay(true));
        overdue.record_failed();
        assert!(!overdue.can_pay(true));
    }
}
