//! A table of bounded size that forgets the key that was used longest ago.
//!
//! Every read looks up several keys. So finding a key takes the same time however many there are.

use alloc::vec;
use alloc::vec::Vec;
use core::mem;

use crate::scatter::slot_of;

/// No entry's place.
const NONE: u16 = u16::MAX;
/// Slots for each number: of most that are not remembered, one look says so.
const SPARSE: usize = 4;

#[derive(Debug)]
struct Node<T> {
    number: u64,
    value: T,
    /// The places of the one that was used next before it, and of the one after it.
    older: u16,
    newer: u16,
    /// Of the next one in the same slot.
    next: u16,
}

/// See the module's page. `MAX` is a power of two below 65,536.
#[derive(Debug)]
pub(crate) struct Recent<T, const MAX: usize> {
    entries: Vec<Node<T>>,
    /// Of the numbers that share a slot, the place of the first. The count of slots is a power of two.
    slots: Vec<u16>,
    oldest: u16,
    newest: u16,
}

impl<T, const MAX: usize> Default for Recent<T, MAX> {
    fn default() -> Recent<T, MAX> {
        const { assert!(MAX.is_power_of_two() && MAX < NONE as usize) };
        Recent { entries: Vec::new(), slots: Vec::new(), oldest: NONE, newest: NONE }
    }
}

impl<T: Default, const MAX: usize> Recent<T, MAX> {
    /// The value of `number`, if it is remembered.
    pub(crate) fn get(&self, number: u64) -> Option<&T> {
        self.find(number).map(|place| &self.entries[place].value)
    }

    /// The same, to be changed.
    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        self.find(number).map(|place| &mut self.entries[place].value)
    }

    /// The value of `number`, which is used now.
    #[inline]
    pub(crate) fn touch(&mut self, number: u64) -> &mut T {
        // Most often it is the same again.
        let place = match self.entries.get(usize::from(self.newest)) {
            Some(newest) if newest.number == number => usize::from(self.newest),
            _ => self.bring_forward(number),
        };
        &mut self.entries[place].value
    }

    fn find(&self, number: u64) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let mut place = self.slots[slot_of(number, self.slots.len())];
        while place != NONE {
            let entry = &self.entries[usize::from(place)];
            if entry.number == number {
                return Some(usize::from(place));
            }
            place = entry.next;
        }
        None
    }

    /// The place of `number`, which is the newest from now on.
    fn bring_forward(&mut self, number: u64) -> usize {
        let place = match self.find(number) {
            Some(place) => {
                self.take_out(place);
                place
            }
            None => self.insert(number),
        };
        let entry = &mut self.entries[place];
        (entry.older, entry.newer) = (self.newest, NONE);
        match self.newest {
            NONE => self.oldest = place as u16,
            newest => self.entries[usize::from(newest)].newer = place as u16,
        }
        self.newest = place as u16;
        place
    }

    /// Takes the entry at `place` out of the order of use.
    fn take_out(&mut self, place: usize) {
        let Node { older, newer, .. } = self.entries[place];
        match older {
            NONE => self.oldest = newer,
            older => self.entries[usize::from(older)].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.entries[usize::from(newer)].older = older,
        }
    }

    /// A place for `number`, of which nothing is known, and which is in no order yet.
    fn insert(&mut self, number: u64) -> usize {
        let place = self.entries.len();
        let place = if place < MAX { place } else { self.forget_oldest() };
        if SPARSE * place >= self.slots.len() {
            self.spread();
        }
        let first = self.slot_mut(number);
        let new = Node { number, value: T::default(), older: NONE, newer: NONE, next: *first };
        *first = place as u16;
        match self.entries.get_mut(place) {
            Some(entry) => *entry = new,
            None => self.entries.push(new),
        }
        place
    }

    /// Doubles the slots.
    fn spread(&mut self) {
        self.slots = vec![NONE; (2 * self.slots.len()).max(4 * SPARSE)];
        for place in 0..self.entries.len() {
            let first = self.slot_mut(self.entries[place].number);
            let next = mem::replace(first, place as u16);
            self.entries[place].next = next;
        }
    }

    fn slot_mut(&mut self, number: u64) -> &mut u16 {
        let slot = slot_of(number, self.slots.len());
        &mut self.slots[slot]
    }

    /// The place that nothing leads to any more.
    fn forget_oldest(&mut self) -> usize {
        let place = usize::from(self.oldest);
        self.take_out(place);
        let Node { number, next, .. } = self.entries[place];
        let first = self.slot_mut(number);
        if usize::from(*first) == place {
            *first = next;
            return place;
        }
        let mut before = usize::from(*first);
        while usize::from(self.entries[before].next) != place {
            before = usize::from(self.entries[before].next);
        }
        self.entries[before].next = next;
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scatter::scattered;

    const MAX: usize = 64;

    /// The same, too simple to be wrong: the newest is the last.
    fn touch(known: &mut Vec<(u64, u32)>, number: u64) -> &mut u32 {
        let found = known.iter().position(|(other, _)| *other == number);
        let entry = match found {
            Some(place) => known.remove(place),
            None if known.len() == MAX => {
                known.remove(0);
                (number, 0)
            }
            None => (number, 0),
        };
        known.push(entry);
        let last = known.len() - 1;
        &mut known[last].1
    }

    #[test]
    fn keys_used_last_are_remembered_and_others_forgotten() {
        let mut recent: Recent<u32, MAX> = Recent::default();
        let mut known = Vec::new();
        for step in 0_u64..20_000 {
            // Mostly of more than have room, sometimes of fewer; now and then in order.
            let mixed = scattered(step) >> 40;
            let number =
                if step % 1000 < 200 { step / 3 } else { mixed % [90, 30, 200][step as usize / 7 % 3] };
            *recent.touch(number) += 1;
            *touch(&mut known, number) += 1;
            assert_eq!(recent.get(number), known.last().map(|(_, count)| count));
            let other = mixed % 97;
            let expected = known.iter().find(|(number, _)| *number == other).map(|(_, count)| count);
            assert_eq!(recent.get(other), expected, "{other} after step {step}");
        }
    }
}
