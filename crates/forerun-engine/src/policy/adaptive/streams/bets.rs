//! What is fetched for no stream: the rest of what is read all over, and what most likely is
//! read soon near what was.

use super::{Streams, missing_bytes};
use crate::policy::adaptive::account::Trust;
use crate::policy::adaptive::fill::Price;
use crate::policy::adaptive::nearby::Means;
use crate::policy::{Access, View};
use crate::types::Extent;

/// Of the memory, the share that may be read ahead and not read yet.
const UNREAD_SHARE: u64 = 2;

impl Streams {
    /// A read that no stream expected; what to fetch besides.
    pub(in crate::policy::adaptive) fn fill(
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
        if view.is_contended {
            return None;
        }
        let room = self.ledger.room(self.briefs.ahead() + fill.unread_bytes(), access.size);
        let (wanted, evidence) = fill.next(access, price, trust, room)?;
        let bytes = missing_bytes(access.object, wanted, view.cache);
        fill.begin(wanted, access.size, evidence, bytes, price, trust);
        Some(wanted)
    }

    /// What to fetch after a read that had to wait, where a wait is worth `wait_bytes`.
    pub(in crate::policy::adaptive) fn bet(
        &mut self,
        access: &Access,
        wait_bytes: u64,
        view: &View<'_>,
    ) -> Option<Extent> {
        let nearby = self.nearby.as_ref().filter(|_| access.missing)?;
        let filled = self.fill.as_ref().map_or(0, |fill| fill.unread_bytes());
        let room = self.ledger.room(self.briefs.ahead() + filled, access.size);
        let worth = nearby.worth(Means { most: self.ledger.room_at_first(access.size), room, wait_bytes });
        let end = access.extent.end();
        let bet = Extent::between(end, end.saturating_add(worth).min(access.size));
        let bytes = missing_bytes(access.object, bet, view.cache);
        let memory =
            (view.config.memory_bytes_max / UNREAD_SHARE).saturating_sub(view.cache.unread_bytes_all());
        if bytes == 0 || bytes > room.min(memory) {
            return None;
        }
        self.ledger.lose(bytes);
        Some(bet)
    }

    /// The same after the read that the youngest candidate is of: reads of what is fetched are
    /// evidence for it.
    pub(in crate::policy::adaptive) fn bet_on_candidate(
        &mut self,
        access: &Access,
        wait_bytes: u64,
        view: &View<'_>,
    ) -> Option<Extent> {
        let bet = self.bet(access, wait_bytes, view)?;
        if let Some(candidate) = self.candidates.back_mut() {
            self.guessed_count += u8::from(!candidate.is_guessed());
            candidate.is_bet_on = true;
        }
        Some(bet)
    }
}
