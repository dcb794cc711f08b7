//! What is fetched for no stream: the rest of what is read all over, and what most likely is
//! read soon near what was.

use super::{Streams, missing_bytes};
use crate::policy::adaptive::fill::{Price, Trust};
use crate::policy::adaptive::nearby::Means;
use crate::policy::adaptive::stream::Shape;
use crate::policy::{Access, View};
use crate::types::Extent;

/// Of so many bytes of a bet one has to be of use, however long a wait is,
const YIELD_SHARE: u64 = 16;
/// and of an object that its readers pass over, since they are soon past what they leave out, or
/// from what may be a disk, whose head is in its place for others; unless a wait is worth as many
/// bytes as the other says.
const YIELD_PASSED: u64 = 4;
const WAIT_BYTES_FAR: u64 = 1 << 20;

impl Streams {
    /// A read that no stream expected; what to fetch besides.
    pub(crate) fn fill(
        &mut self,
        access: &Access,
        price: &Price,
        trust: &mut Trust,
        view: &View<'_>,
    ) -> Option<Extent> {
        let fill = self.fill.get_or_insert_default();
        fill.note(access, price, trust);
        self.nearby.get_or_insert_default();
        // Who waits beside others waits for what is filled as well.
        if view.is_contended || !fill.may_pay(access, price) {
            return None;
        }
        let room = self.ledger.room(self.briefs.ahead() + fill.unread_bytes(), access.size);
        let (wanted, evidence) = fill.next(access, price, trust, room)?;
        let bytes = missing_bytes(access.object, wanted, view.cache);
        fill.begin(wanted, access.size, evidence, bytes, price, trust);
        Some(wanted)
    }

    /// What to fetch after a read of the stream at `index` that had to wait, where a wait is worth
    /// `wait_bytes`: what of it the stream has not wanted itself. Nothing if its reader is known to
    /// come for all of it, in disorder, or far away, where windows grow fast anyway.
    pub(crate) fn bet_beside(
        &mut self,
        index: usize,
        access: &Access,
        wait_bytes: u64,
        view: &View<'_>,
    ) -> Option<Extent> {
        let stream = &self.streams[index];
        let is_enough = wait_bytes >= WAIT_BYTES_FAR || stream.is_disordered();
        if is_enough || !matches!(stream.shape(), Shape::Forward) {
            return None;
        }
        self.bet(access, stream.ahead().end(), wait_bytes, view)
    }

    /// The same after any read, up to `wanted_to` without what is wanted anyway.
    fn bet(&mut self, access: &Access, wanted_to: u64, wait_bytes: u64, view: &View<'_>) -> Option<Extent> {
        let nearby = self.nearby.as_ref().filter(|nearby| access.missing && nearby.may_pay(YIELD_SHARE))?;
        let fill = self.fill.as_ref()?;
        let filled = fill.unread_bytes();
        let room = self.ledger.room(self.briefs.ahead() + filled, access.size);
        let most = self.ledger.room_at_first(access.size);
        let is_left = fill.is_passed() || view.device.may_be_disk();
        let is_left = is_left && wait_bytes < WAIT_BYTES_FAR;
        let yield_share = if is_left { YIELD_PASSED } else { YIELD_SHARE };
        let next_bytes = view.device.next_bytes().min(wait_bytes);
        let worth = nearby.worth(Means { most, room, wait_bytes, next_bytes, yield_share });
        let end = access.extent.end();
        let from = end.max(wanted_to);
        let bet = Extent::between(from, end.saturating_add(worth).min(access.size).max(from));
        if bet.is_empty() {
            return None;
        }
        let bytes = missing_bytes(access.object, bet, view.cache);
        if bytes == 0 || bytes > room.min(view.cache.spare_bytes()) {
            return None;
        }
        self.ledger.lose(bytes);
        Some(bet)
    }

    /// The same after a read that the youngest candidate is of: reads of what is fetched are
    /// evidence for it.
    pub(crate) fn bet_on_candidate(
        &mut self,
        access: &Access,
        wait_bytes: u64,
        view: &View<'_>,
    ) -> Option<Extent> {
        let bet = self.bet(access, 0, wait_bytes, view)?;
        if let Some(candidate) = self.candidates.back_mut() {
            self.guessed_count += u8::from(!candidate.is_guessed());
            candidate.is_bet_on = true;
        }
        Some(bet)
    }
}
