//! Fetches besides the windows of streams: the rest of a region that is read all over, and places that are
//! often read near others.

use super::super::deal::Deal;
use super::super::detect::{CHUNK_BYTES, Shape};
use super::super::evidence::{ASKED_MIN, Answer};
use super::super::object::Object;
use crate::ablation::Rule;
use crate::explain::{Class, Why};
use crate::policy::{Reason, Window};
use crate::types::{BLOCK_BYTES, Extent};

/// Of this many bet bytes, one must be used. Fewer bytes must pay for it where a wait is worth less than
/// `FAR_BYTES`.
const YIELD_SHARE: u64 = 16;
const YIELD_SHARE_NEAR: u64 = 4;
const FAR_BYTES: u64 = 1 << 20;
/// A bet takes at most this share of the account's room. Each of `PRICE_PARTS` parts of the room that is taken
/// doubles the price of a bet.
const BET_SHARE: u64 = 128;
const PRICE_PARTS: u64 = 12;

impl Object {
    /// A read that no stream expected: fills the region around it.
    pub(in super::super) fn fill(&mut self, deal: &mut Deal<'_>) {
        let (access, costs, credit) = (deal.access, deal.costs, deal.credit());
        // Whether all of the object may be wasted.
        let fits = access.size <= deal.view.config.waste_bytes_of(access.size);
        let wait = costs.fill / credit.sharers;
        let of_use = access.unread_bytes + if access.missing { access.extent.len } else { 0 };
        if self.region.record_miss(access, fits) {
            let hit = credit.hit_bytes.min(wait);
            self.region.filled.earn(access.unread_bytes, hit, fits, &mut deal.common.trust);
        }
        deal.common.trust.record_read(of_use, if access.missing { wait } else { 0 });
        // A reader that waits all the time would wait for the filled bytes as well.
        let is_in_front = deal.view.is_contended && credit.sharers > 1;
        // On a disk, a reader that goes one way saves little time by it: the head is in its place already.
        let is_passed = costs.apart > 0 && !Rule::Passed.is_off() && self.region.is_passed();
        let is_trusted = Rule::FillTrust.is_off() || deal.common.trust.allows(fits, &self.region.filled);
        if !access.missing || is_in_front || is_passed || !is_trusted || Rule::Regions.is_off() {
            return;
        }
        let room =
            deal.account().room().min(deal.view.cache.spare_bytes()).min(self.region.filled.room(fits));
        if let Some(block) = self.region.block(access.extent.offset, access.size, fits, room, wait) {
            let bytes = deal.missing(block);
            self.region.fill(block);
            self.region.filled.pay(bytes, wait, fits, &mut deal.common.trust);
            deal.account().reserve(bytes, false);
            deal.windows.push(Window::new(block, Reason { class: Class::Filled, why: Why::Bet }));
        }
    }

    /// Bets on chunks that are often read after a read of this kind. `found` is its stream, if it has one.
    pub(in super::super) fn bet_near(&mut self, found: Option<usize>, deal: &mut Deal<'_>) {
        let (access, costs) = (deal.access, deal.costs);
        let Some(nearby) = &self.nearby else { return };
        let stream = found.map(|at| &self.streams[at]);
        let has_stream = stream.is_some_and(|stream| stream.shape != Shape::FORWARD);
        if Rule::Near.is_off() || !access.missing || has_stream || found.is_some() && costs.near >= FAR_BYTES
        {
            return;
        }
        let is_near = costs.near < FAR_BYTES;
        let share = if is_near { YIELD_SHARE_NEAR } else { YIELD_SHARE };
        let price = deal.account().taken(PRICE_PARTS);
        let next = costs.next.min(costs.near);
        let reach = nearby.reach(|answer: &Answer| {
            let [asked, blocks] = [answer.asked, answer.blocks].map(u64::from);
            let [reads, returns] = [answer.reads, answer.returns].map(u64::from);
            let (fetched, useful) = (asked * CHUNK_BYTES, blocks * BLOCK_BYTES);
            let likely = reads.saturating_sub(reads.isqrt());
            let saved = returns * costs.near + (reads - returns) * next;
            answer.asked >= ASKED_MIN
                && useful * share >= fetched
                && likely * saved / reads.max(1) >= fetched.saturating_sub(useful) << price
        });
        let reach = reach.min(deal.account().room() / BET_SHARE / BLOCK_BYTES * BLOCK_BYTES);
        let from = access.extent.end().max(stream.map_or(0, |stream| stream.planned));
        let end = access.extent.end().saturating_add(reach).min(access.size);
        let bet = Extent::between(from, end.max(from));
        if bet.len <= deal.view.cache.spare_bytes() && deal.bet(bet, None) && found.is_none() {
            self.help_youngest();
        }
    }
}
