//! What is fetched for no stream: the rest of what is read all over, and what most likely is
//! read soon near what was.

use super::{Streams, missing_bytes};
use crate::policy::adaptive::amounts::{fill_price, near_bytes};
use crate::policy::adaptive::fill::Trust;
use crate::policy::adaptive::nearby::Means;
use crate::policy::adaptive::stream::Shape;
use crate::policy::balance::Credit;
use crate::policy::{Access, View};
use crate::types::Extent;

/// Of so many bytes of a bet one has to be of use, however long a wait is,
const YIELD_SHARE: u64 = 16;
/// and from what may be a disk, whose head is in its place for others, unless a wait is worth as
/// many bytes as the other says.
const YIELD_ON_DISK: u64 = 4;
const WAIT_BYTES_FAR: u64 = 1 << 20;

impl Streams {
    /// What to bet on and to fill after a read that the youngest candidate is of, where nothing is
    /// bet besides a `guess`.
    pub(crate) fn beside_candidate(
        &mut self,
        guess: Option<Extent>,
        access: &Access,
        credit: &Credit,
        trust: &mut Trust,
        view: &View<'_>,
    ) -> [Option<Extent>; 2] {
        let fill = self.fill(access, credit, trust, view);
        let bet = if guess.is_some() { None } else { self.bet_on_candidate(access, view) };
        [bet, fill]
    }

    /// The same after a read of the stream at `index`; what was `is_expected` there, or is an object's
    /// start, is no disorder.
    pub(crate) fn beside_stream(
        &mut self,
        index: usize,
        is_expected: bool,
        access: &Access,
        credit: &Credit,
        trust: &mut Trust,
        view: &View<'_>,
    ) -> [Option<Extent>; 2] {
        let bet = self.bet_beside(index, access, view);
        let is_disorder = !is_expected && access.extent.offset > 0;
        let fill = if is_disorder { self.fill(access, credit, trust, view) } else { None };
        [bet, fill]
    }

    /// A read that no stream expected; what to fetch besides.
    fn fill(
        &mut self,
        access: &Access,
        credit: &Credit,
        trust: &mut Trust,
        view: &View<'_>,
    ) -> Option<Extent> {
        let price = &fill_price(credit.hit_bytes, view);
        let fill = self.fill.get_or_insert_default();
        fill.note(access, price, trust);
        self.nearby.get_or_insert_default();
        // Who waits beside others waits for what is filled as well, unless they take turns.
        let is_in_front = view.is_contended && view.device.turn_bytes().is_none();
        if is_in_front || !fill.may_pay(access, price) {
            return None;
        }
        let room = self.ledger.room(self.briefs.ahead() + fill.unread_bytes(), access.size);
        let (wanted, evidence) = fill.next(access, price, trust, room)?;
        let bytes = missing_bytes(access.object, wanted, view.cache);
        fill.begin(wanted, access.size, evidence, bytes, price, trust);
        Some(wanted)
    }

    /// What to fetch after a read of the stream at `index` that had to wait: what of it the stream
    /// has not wanted itself. Nothing if its reader is known to come for all of it, in disorder, or
    /// far away, where windows grow fast anyway.
    fn bet_beside(&mut self, index: usize, access: &Access, view: &View<'_>) -> Option<Extent> {
        let stream = &self.streams[index];
        let is_enough = near_bytes(view) >= WAIT_BYTES_FAR || stream.is_disordered();
        if is_enough || !matches!(stream.shape(), Shape::Forward) {
            return None;
        }
        self.bet(access, stream.ahead().end(), view)
    }

    /// The same after a read that the youngest candidate is of: reads of what is fetched are
    /// evidence for it.
    fn bet_on_candidate(&mut self, access: &Access, view: &View<'_>) -> Option<Extent> {
        let bet = self.bet(access, 0, view)?;
        if let Some(candidate) = self.candidates.back_mut() {
            self.guessed_count += u8::from(!candidate.is_guessed());
            candidate.is_bet_on = true;
        }
        Some(bet)
    }

    /// The same after any read, up to `wanted_to` without what is wanted anyway.
    fn bet(&mut self, access: &Access, wanted_to: u64, view: &View<'_>) -> Option<Extent> {
        let wait_bytes = near_bytes(view);
        let nearby = self.nearby.as_ref().filter(|nearby| access.missing && nearby.may_pay(YIELD_SHARE))?;
        let fill = self.fill.as_ref()?;
        let room = self.ledger.room(self.briefs.ahead() + fill.unread_bytes(), access.size);
        let most = self.ledger.room_at_first(access.size);
        let is_on_disk = wait_bytes < WAIT_BYTES_FAR && view.device.may_be_disk();
        let yield_share = if is_on_disk { YIELD_ON_DISK } else { YIELD_SHARE };
        let next_bytes = view.device.next_bytes().min(wait_bytes);
        // What was passed was cheap, and says nothing of bets.
        let means =
            Means { most, room: room + self.ledger.passed_bytes(), wait_bytes, next_bytes, yield_share };
        let worth = nearby.worth(means);
        let from = access.extent.end().max(wanted_to);
        let end = access.extent.end().saturating_add(worth).min(access.size);
        let bet = Extent::between(from, end.max(from));
        if bet.is_empty() {
            return None;
        }
        let bytes = missing_bytes(access.object, bet, view.cache);
        if bytes == 0 || bytes > room.min(self.guess_room).min(view.cache.spare_bytes()) {
            return None;
        }
        self.ledger.lose(bytes);
        Some(bet)
    }
}
