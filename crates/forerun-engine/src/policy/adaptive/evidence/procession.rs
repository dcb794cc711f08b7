//! Streams that begin in the order in which their first reads came.
//!
//! Many readers that take turns all read once before any of them reads again. When
//! those that came first turn out to be streams, one after the other, those that came
//! next most likely will too: what each of them reads next is fetched before it asks,
//! for twice as many each time.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::candidate::Candidate;
use crate::types::Extent;

/// Streams that begin in order before there is an opinion.
const IN_ORDER_MIN: u32 = 2;

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Procession {
    in_order: u32,
}

impl Procession {
    /// The candidate at `place` in line became a stream, or was no more than read
    /// again.
    pub(crate) fn note(&mut self, place: Option<usize>) {
        self.in_order = if place == Some(0) { self.in_order.saturating_add(1) } else { 0 };
    }

    /// What those who are next in line will most likely read, each as much again as it
    /// has read.
    pub(crate) fn next(&self, line: &mut VecDeque<Candidate>, size: u64) -> Vec<Extent> {
        if self.in_order < IN_ORDER_MIN {
            return Vec::new();
        }
        let count = 1_usize.checked_shl(self.in_order).unwrap_or(usize::MAX);
        let next = line.iter_mut().take(count).filter(|candidate| !candidate.is_guessed());
        let guess = |candidate: &mut Candidate| {
            let end = candidate.end.saturating_add(candidate.bytes()).min(size);
            let guess = Extent::between(candidate.end.min(end), end);
            candidate.guessed = guess.len;
            guess
        };
        next.map(guess).filter(|guess| !guess.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 1 << 30;

    fn line() -> VecDeque<Candidate> {
        (0..64).map(|index| Candidate::new(Extent::new(index << 20, 4096))).collect()
    }

    #[test]
    fn those_in_line_are_helped_when_the_first_went_on() {
        let (mut procession, mut line) = (Procession::default(), line());
        procession.note(Some(0));
        assert!(procession.next(&mut line, SIZE).is_empty());
        procession.note(Some(0));
        let wanted = procession.next(&mut line, SIZE);
        assert_eq!(wanted.len(), 4);
        assert_eq!(wanted[1], Extent::new((1 << 20) + 4096, 4096));
        procession.note(Some(0));
        assert_eq!(procession.next(&mut line, SIZE).len(), 4, "four were helped already");
    }

    #[test]
    fn out_of_order_there_is_no_opinion() {
        let (mut procession, mut line) = (Procession::default(), line());
        for place in [Some(0), Some(3), Some(0), None, Some(0)] {
            procession.note(place);
            assert!(procession.next(&mut line, SIZE).is_empty());
        }
    }
}
