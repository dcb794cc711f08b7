//! Whose turn it is among equals with weights: start-time fair queueing.
//!
//! Each member has a tag: the cost of what was fetched for it, divided by its weight. The member with the least tag is
//! next. The virtual time is the tag at which the last turn began. Tags may differ by the *lead*: the part of each member of
//! what keeps the device busy. A member that returns does not make up for the time it was away: its tag is at most the lead
//! behind the virtual time.
//!
//! A new member begins half of the lead after the virtual time. So those that wait come first, and new members that come
//! one after another never keep an older one waiting.

//= Goyal, Vin, Cheng, "Start-time fair queueing", 1996

use alloc::collections::{BTreeMap, BTreeSet};

/// A tag counts bytes of a member with a weight of 1 in these parts, so that weights divide it well.
const PARTS: u64 = 256;
/// As many members are remembered at least.
const MEMBERS_MIN: usize = 1024;

/// The members' shares, and who of them waits.
#[derive(Debug)]
pub(super) struct Turns<Id> {
    shares: BTreeMap<Id, Share>,
    /// Members with waiting reads, and those with queued windows, in the order of their tags.
    waiting: [BTreeSet<(u64, Id)>; 2],
    /// The virtual time.
    now: u64,
    /// At twice as many shares, those of idle members are forgotten.
    shares_kept: usize,
    active: Active,
}

/// The members that something was fetched for just now, as they were counted last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Active {
    pub(super) count: u64,
    pub(super) weight: u64,
    /// At which virtual time.
    counted: u64,
}

/// How far members may be ahead or behind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slack {
    /// The bytes that keep the device busy.
    pub(crate) busy: u64,
    /// The bytes of two turns.
    pub(crate) turns: u64,
}

/// A read or a window of readahead that waits for its member's turn.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Read,
    Window,
}

#[derive(Clone, Copy, Debug)]
struct Share {
    tag: u64,
    weight: u32,
    /// Of each [`Kind`].
    waiting_count: [u32; 2],
}

impl<Id> Default for Turns<Id> {
    fn default() -> Turns<Id> {
        let (shares, waiting) = (BTreeMap::new(), [BTreeSet::new(), BTreeSet::new()]);
        Turns { shares, waiting, now: 0, shares_kept: 0, active: Active::default() }
    }
}

impl<Id: Copy + Ord> Turns<Id> {
    /// Of members with something of `kind` that waits, the one whose turn it is first, then the others.
    pub(super) fn in_turn(&self, kind: Kind) -> impl Iterator<Item = Id> + '_ {
        self.waiting[kind as usize].iter().map(|(_, id)| *id)
    }

    /// The tag at which a turn of `id` would begin now.
    pub(super) fn start(&self, id: Id, slack: Slack) -> u64 {
        let lead = self.lead(slack);
        let (behind, new) = (self.now.saturating_sub(lead), self.now.saturating_add(lead / 2));
        self.shares.get(&id).map_or(new, |share| share.tag.max(behind))
    }

    /// Whether `id` is ahead of `other` by more than the lead.
    pub(super) fn is_after(&self, id: Id, other: Id, slack: Slack) -> bool {
        self.start(other, slack).saturating_add(self.lead(slack)) < self.start(id, slack)
    }

    /// A part of what keeps the device busy, but two turns at least.
    fn lead(&self, slack: Slack) -> u64 {
        (slack.busy / self.active.weight.max(1)).max(slack.turns).saturating_mul(PARTS)
    }

    pub(super) fn set_weight(&mut self, id: Id, weight: u32, slack: Slack) {
        self.share(id, slack).weight = weight.max(1);
    }

    /// One more of `id` begins to wait.
    pub(super) fn begin_wait(&mut self, id: Id, kind: Kind, slack: Slack) {
        let tag = self.start(id, slack);
        let share = self.share(id, slack);
        share.waiting_count[kind as usize] += 1;
        if share.waiting_count[kind as usize] == 1 {
            let before = share.tag;
            self.waiting[kind as usize].insert((before, id));
            self.set_tag(id, tag);
        }
    }

    /// One of `id` waits no longer.
    pub(super) fn end_wait(&mut self, id: Id, kind: Kind) {
        let Some(share) = self.shares.get_mut(&id) else { return };
        share.waiting_count[kind as usize] -= 1;
        if share.waiting_count[kind as usize] == 0 {
            self.waiting[kind as usize].remove(&(share.tag, id));
        }
    }

    fn set_tag(&mut self, id: Id, tag: u64) {
        let Some(share) = self.shares.get_mut(&id) else { return };
        let before = core::mem::replace(&mut share.tag, tag);
        for members in &mut self.waiting {
            if members.remove(&(before, id)) {
                members.insert((tag, id));
            }
        }
    }

    /// Something that costs `bytes` is fetched for `id`.
    pub(super) fn charge(&mut self, id: Id, bytes: u64, slack: Slack) {
        let start = self.start(id, slack);
        self.now = self.now.max(start);
        let weight = self.share(id, slack).weight;
        self.set_tag(id, start.saturating_add(bytes.saturating_mul(PARTS) / u64::from(weight)));
    }

    /// Counts the active members. False if that was done just now.
    pub(super) fn count_active(&mut self, slack: Slack) -> bool {
        let slack = slack.busy.saturating_mul(PARTS);
        if self.active.count > 0 && self.now < self.active.counted.saturating_add(slack / 4) {
            return false;
        }
        let since = self.now.saturating_sub(slack);
        let active = self.shares.values().filter(|share| share.tag >= since);
        let (count, weight) =
            active.fold((0, 0), |(count, weight), share| (count + 1, weight + u64::from(share.weight)));
        self.active = Active { count, weight, counted: self.now };
        true
    }

    /// Whether something was fetched for `id` just now.
    pub(super) fn is_active(&self, id: Id, slack: Slack) -> bool {
        let since = self.now.saturating_sub(slack.busy.saturating_mul(PARTS));
        self.shares.get(&id).is_some_and(|share| share.tag >= since)
    }

    /// The active members.
    pub(super) fn active(&self) -> Active {
        self.active
    }

    /// The weight of `id`.
    pub(super) fn weight(&self, id: Id) -> u32 {
        self.shares.get(&id).map_or(1, |share| share.weight)
    }

    /// Forgets members that would lose nothing if they came back as new ones.
    fn forget_idle(&mut self) {
        let now = self.now;
        self.shares.retain(|_, share| share.waiting_count != [0, 0] || share.weight != 1 || share.tag > now);
        self.shares_kept = self.shares.len();
    }

    /// Whether `id` is remembered.
    pub(super) fn knows(&self, id: Id) -> bool {
        self.shares.contains_key(&id)
    }

    fn share(&mut self, id: Id, slack: Slack) -> &mut Share {
        let tag = self.start(id, slack);
        if self.shares.len() >= MEMBERS_MIN.max(2 * self.shares_kept) {
            self.forget_idle();
        }
        self.shares.entry(id).or_insert(Share { tag, weight: 1, waiting_count: [0, 0] })
    }
}

#[cfg(test)]
mod tests;
