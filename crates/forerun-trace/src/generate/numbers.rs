//! Pseudo-random numbers that are equal for equal seeds on every machine.

/// A generator of numbers: xorshift with a final multiplication, which hides its weak low bits.
#[derive(Clone, Debug)]
pub struct Numbers {
    state: u64,
}

impl Numbers {
    /// The numbers of `seed`.
    pub fn new(seed: u64) -> Numbers {
        // Neighbouring seeds must not begin alike, and the state must not be 0.
        let mut numbers = Numbers { state: (seed ^ 0x9e37_79b9_7f4a_7c15) | 1 << 63 };
        for _ in 0..8 {
            numbers.next();
        }
        numbers
    }

    /// A number below `bound`, which is not 0. The lowest numbers are more likely by less than
    /// `bound` in 2^64.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evenly_and_repeatably() {
        let mut counts = [0; 10];
        let mut numbers = Numbers::new(7);
        (0..100_000).for_each(|_| counts[numbers.below(10) as usize] += 1);
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
        let first = |seed| Numbers::new(seed).below(u64::MAX);
        assert_eq!(first(7), first(7));
        assert_ne!(first(7), first(8));
    }
}
