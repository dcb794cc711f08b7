//! The states of the blocks of one page of the map.

use std::ops::Range;

use super::layout::STATE_BYTES;

/// Where the bytes of a block are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// In the base.
    Base,
    /// In the file.
    Data,
    /// Nowhere: they are zeros.
    Zero,
}

/// Two bits for each block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct States(pub(super) Box<[u8; STATE_BYTES]>);

impl Default for States {
    fn default() -> States {
        States(Box::new([0; STATE_BYTES]))
    }
}

impl State {
    fn bits(self) -> u8 {
        match self {
            State::Base => 0,
            State::Data => 1,
            State::Zero => 2,
        }
    }
}

impl States {
    pub(super) fn get(&self, block: usize) -> State {
        match self.0[block / 4] >> (block % 4 * 2) & 3 {
            0 => State::Base,
            1 => State::Data,
            _ => State::Zero,
        }
    }

    /// Sets `blocks`. False if all of them had the state.
    pub(super) fn set(&mut self, blocks: Range<usize>, state: State) -> bool {
        let mut is_changed = false;
        for block in blocks {
            let (byte, shift) = (&mut self.0[block / 4], block % 4 * 2);
            let next = *byte & !(3 << shift) | state.bits() << shift;
            is_changed |= next != *byte;
            *byte = next;
        }
        is_changed
    }

    /// Whether each block has one of the three states.
    pub(super) fn is_valid(&self) -> bool {
        self.0.iter().all(|byte| byte & byte >> 1 & 0x55 == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_the_state_that_was_set_last_and_its_neighbours_keep_theirs() {
        let mut states = States::default();
        assert!(states.set(3..10, State::Data));
        assert!(states.set(5..6, State::Zero));
        assert!(!states.set(6..9, State::Data));
        let found: Vec<State> = (2..11).map(|block| states.get(block)).collect();
        use State::{Base, Data, Zero};
        assert_eq!(found, [Base, Data, Data, Zero, Data, Data, Data, Data, Base]);
        assert!(states.is_valid());
        states.0[7] = 0b1100;
        assert!(!states.is_valid());
    }
}
