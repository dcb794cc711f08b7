//! Guessing that a first read is not the last.
//!
//! Somebody who meets many streams of an object one after the other pays a
//! latency for the first read of each, and another for the second, which makes it
//! a stream. A guess after the first saves that one. It may be wrong: so every
//! object has a small credit to guess with, which right guesses restore and wrong
//! ones use up, and which grows with what readahead was of use.

use super::candidate::Candidate;
use crate::types::Extent;

/// What wrong guesses may cost an object beyond [`EARN_SHARE`] of what is read.
const CREDIT_BYTES_MAX: u64 = 512 << 10;
/// One byte to guess with for so many bytes that had been read ahead.
const EARN_SHARE: u64 = 16;
/// Readers of less at once are most often after just that.
const READ_BYTES_MIN: u64 = 32 << 10;

#[derive(Debug)]
pub(crate) struct Guesses {
    credit_bytes: u64,
}

impl Default for Guesses {
    fn default() -> Guesses {
        Guesses { credit_bytes: CREDIT_BYTES_MAX }
    }
}

impl Guesses {
    pub(crate) fn earn(&mut self, useful_bytes: u64) {
        self.credit_bytes = (self.credit_bytes + useful_bytes / EARN_SHARE).min(CREDIT_BYTES_MAX);
    }

    /// As much again as the candidate's first read, if that is worth a guess and
    /// there is credit for it.
    pub(crate) fn for_first_read(&mut self, candidate: &mut Candidate, size: u64) -> Option<Extent> {
        let len = candidate.bytes();
        if !candidate.is_new() || len < READ_BYTES_MIN || len > self.credit_bytes {
            return None;
        }
        let guess = Extent::between(candidate.end, (candidate.end + len).min(size));
        self.credit_bytes -= guess.len;
        candidate.guessed = guess.len;
        (!guess.is_empty()).then_some(guess)
    }

    /// The candidate became a stream.
    pub(crate) fn was_right(&mut self, candidate: &Candidate) {
        self.credit_bytes = (self.credit_bytes + candidate.guessed).min(CREDIT_BYTES_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 1 << 30;

    fn guess(guesses: &mut Guesses, len: u64) -> (Candidate, Option<Extent>) {
        let mut candidate = Candidate::new(Extent::new(1 << 20, len));
        let guess = guesses.for_first_read(&mut candidate, SIZE);
        (candidate, guess)
    }

    #[test]
    fn wrong_guesses_end_and_right_ones_do_not() {
        let mut guesses = Guesses::default();
        assert_eq!((0..100).filter(|_| guess(&mut guesses, 64 << 10).1.is_some()).count(), 8);
        // Sixteen times as much of use as guessed earns the next guess.
        guesses.earn(1 << 20);
        assert!(guess(&mut guesses, 64 << 10).1.is_some());
        let mut guesses = Guesses::default();
        for _ in 0..100 {
            let (candidate, guess) = guess(&mut guesses, 64 << 10);
            assert_eq!(guess, Some(Extent::new((1 << 20) + (64 << 10), 64 << 10)));
            guesses.was_right(&candidate);
        }
    }

    #[test]
    fn small_reads_are_left_alone() {
        assert_eq!(guess(&mut Guesses::default(), 4096).1, None);
    }
}
