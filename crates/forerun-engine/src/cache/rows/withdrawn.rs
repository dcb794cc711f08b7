//! Slots out of use, since less memory is wanted than the region has.

use super::slots::{GROUP, SlotRun, Slots};

impl Slots {
    /// From now on so many are wanted, at most those of the region. Those that were withdrawn come back as far as
    /// they are wanted again.
    pub(crate) fn resize(&mut self, wanted: u32) {
        self.wanted = wanted.min(self.all_count);
        while self.kept_count() < self.wanted
            && let Some(mut run) = self.withdrawn.pop()
        {
            let back = run.count.min(self.wanted - self.kept_count());
            self.withdrawn_count -= back;
            self.give_run(SlotRun { first: run.first, count: back });
            run = SlotRun { first: run.first + back, count: run.count - back };
            self.told = self.told.min(self.withdrawn.len() + usize::from(run.count > 0));
            if run.count > 0 {
                self.withdrawn.push(run);
            }
        }
    }

    /// Withdraws free slots until only those are kept that are wanted. Whether they are.
    pub(crate) fn withdraw(&mut self) -> bool {
        while self.kept_count() > self.wanted
            && let Some(group) = last_set(&self.whole).or_else(|| last_set(&self.partial))
        {
            let free = self.free[group];
            let end = GROUP - free.leading_zeros();
            let run = (free << free.leading_zeros()).leading_ones().min(self.kept_count() - self.wanted);
            let run = self.take(group, end - run, run);
            self.withdrawn_count += run.count;
            self.withdrawn.push(run);
        }
        self.kept_count() <= self.wanted
    }

    /// The runs that were withdrawn since the last call, and are still.
    pub(crate) fn tell_withdrawn(&mut self) -> &[SlotRun] {
        let told = core::mem::replace(&mut self.told, self.withdrawn.len());
        &self.withdrawn[told..]
    }
}

fn last_set(bits: &[u64]) -> Option<usize> {
    let word = bits.iter().rposition(|word| *word != 0)?;
    Some(word * 64 + 63 - bits[word].leading_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_slots_are_withdrawn_and_come_back() {
        let run = |first, count| SlotRun { first, count };
        let mut slots = Slots::new(200);
        assert_eq!(slots.allocate(64), Some(run(0, 64)));
        slots.resize(150);
        assert!(slots.withdraw());
        assert_eq!(slots.tell_withdrawn(), [run(192, 8), run(150, 42)]);
        assert_eq!((slots.kept_count(), slots.used_count(), slots.free_count()), (150, 64, 86));
        slots.resize(40);
        assert!(!slots.withdraw(), "more are in use");
        assert_eq!((slots.kept_count(), slots.free_count(), slots.allocate(1)), (64, 0, None));
        assert_eq!(slots.tell_withdrawn().iter().map(|run| run.count).sum::<u32>(), 86);
        slots.give_run(run(0, 64));
        assert!(slots.withdraw());
        slots.resize(1000);
        assert!(slots.tell_withdrawn().is_empty(), "those of the last are back");
        assert_eq!((slots.kept_count(), slots.free_count(), slots.used_count()), (200, 200, 0));
        slots.resize(199);
        assert!(slots.withdraw());
        assert_eq!(slots.tell_withdrawn(), [run(199, 1)]);
    }
}
