//! The runs before the newest, and the steps of one stream among the runs of others.

use alloc::vec::Vec;

use super::run::Run;
use crate::policy::adaptive::stream::Strides;
use crate::scatter::slot_of;
use crate::types::Extent;

/// Runs remembered besides the newest: 16 steps from one to the next.
pub(super) const BEFORE_MAX: usize = 16;
/// Equal steps that make a stride if others read in between: among many reads, some lie even by chance.
const EQUAL_AMONG_OTHERS: usize = 4;

/// Those before the newest.
#[derive(Debug, Default)]
pub(super) struct Before {
    /// The last of them are remembered, the oldest first.
    all: Vec<Run>,
    offsets: Offsets,
}

impl Before {
    pub(super) fn runs(&self) -> &[Run] {
        &self.all[self.all.len().saturating_sub(BEFORE_MAX)..]
    }

    pub(super) fn push(&mut self, run: Run) {
        if let [oldest, others @ ..] = self.runs()
            && others.len() == BEFORE_MAX - 1
        {
            self.offsets.remove(oldest.offset);
        }
        // Seldom, so that the others need not move for each.
        if self.all.len() == 2 * BEFORE_MAX {
            self.all.drain(..=BEFORE_MAX);
        }
        self.all.push(run);
        self.offsets.add(run.offset);
    }

    /// Takes out the last one, if `is_meant`.
    pub(super) fn pop_if(&mut self, is_meant: impl FnOnce(&Run) -> bool) -> Option<Run> {
        let last = self.all.pop_if(|run| is_meant(run))?;
        self.offsets.remove(last.offset);
        if let [oldest, others @ ..] = self.runs()
            && others.len() == BEFORE_MAX - 1
        {
            self.offsets.add(oldest.offset);
        }
        Some(last)
    }

    /// Even steps of one stream among the runs of others, of which `new` is the last: five runs of
    /// one length.
    pub(super) fn step_to(&self, new: Extent, doubt: usize) -> Option<(Strides, u64)> {
        let equal = EQUAL_AMONG_OTHERS + doubt;
        // Nearly always none began two steps before the new one, or another one began there by chance.
        let is_step = |run: &Extent| {
            let before = (2 * run.offset).wrapping_sub(new.offset);
            let step = || new.offset.wrapping_sub(run.offset);
            self.offsets.may_have(before) && self.offsets.may_have(before.wrapping_sub(step()))
        };
        let up = || self.runs().iter().filter(|run| !run.is_down()).map(Run::extent);
        up().rev().filter(is_step).find_map(|run| {
            let step = new.offset as i64 - run.offset as i64;
            let back = |count: i64| run.offset.checked_sub_signed(step.checked_mul(count)?);
            let first = (1..equal as i64).try_fold(run, |_, count| {
                let offset = back(count)?;
                up().find(|other| other.offset == offset && other.len == run.len)
            })?;
            Some((apart([first].to_vec(), step, false)?, equal as u64 * run.len))
        })
    }
}

/// Where runs began: of nearly all other offsets it is known at a glance that none did there, and
/// every read at random asks about as many as there are.
#[derive(Debug)]
struct Offsets([u8; 256]);

impl Default for Offsets {
    fn default() -> Offsets {
        Offsets([0; 256])
    }
}

impl Offsets {
    fn add(&mut self, offset: u64) {
        self.0[Offsets::place(offset)] += 1;
    }

    fn remove(&mut self, offset: u64) {
        self.0[Offsets::place(offset)] -= 1;
    }

    fn may_have(&self, offset: u64) -> bool {
        self.0[Offsets::place(offset)] > 0
    }

    fn place(offset: u64) -> usize {
        slot_of(offset, 256)
    }
}

/// Steps that leave nothing out are a sequential stream's, unless they go the other way than
/// the reads of which each consists.
pub(super) fn apart(elements: Vec<Extent>, period: i64, is_down: bool) -> Option<Strides> {
    let strides = Strides::new(elements, period)?.downward(is_down);
    let is_against = is_down == (period > 0);
    let least = strides.element_bytes() + u64::from(!is_against);
    (period.unsigned_abs() >= least).then_some(strides)
}
