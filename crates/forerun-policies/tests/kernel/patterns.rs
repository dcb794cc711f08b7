//! Ways of reading a cold file of 25,600 pages, as (page, pages) requests.

pub(crate) const PAGES: u64 = 25_600;

pub(crate) type Reads = Vec<(u64, u64)>;

/// The same numbers every time: xorshift.
pub(crate) struct Numbers(u64);

impl Numbers {
    /// Those of one seed, 1 or more.
    pub(crate) fn new(seed: u64) -> Numbers {
        let mut numbers = Numbers(seed);
        // The first ones of small seeds are small.
        for _ in 0..8 {
            numbers.below(1);
        }
        numbers
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// The first `len` pages of every `gap`.
pub(crate) fn stride(gap: u64, len: u64) -> Reads {
    (0..PAGES).step_by(gap as usize).map(|page| (page, len)).collect()
}

pub(crate) fn forward() -> Reads {
    stride(1, 1)
}

pub(crate) fn backward(len: u64) -> Reads {
    stride(len, len).into_iter().rev().collect()
}

/// Two halves, a page of each in turn.
pub(crate) fn two_streams() -> Reads {
    (0..PAGES / 2).flat_map(|page| [(page, 1), (PAGES / 2 + page, 1)]).collect()
}

/// Eight eighths, a page of one of them drawn at random.
pub(crate) fn eight_streams(seed: u64) -> Reads {
    let mut numbers = Numbers::new(seed);
    let mut next: Vec<u64> = (0..8).map(|stream| stream * PAGES / 8).collect();
    let mut reads = Vec::new();
    while reads.len() < PAGES as usize {
        let stream = numbers.below(8) as usize;
        if next[stream] < (stream as u64 + 1) * PAGES / 8 {
            reads.push((next[stream], 1));
            next[stream] += 1;
        }
    }
    reads
}

/// `len`-page requests in order, each batch of `within` shuffled.
pub(crate) fn reordered(seed: u64, len: u64, within: usize) -> Reads {
    let mut numbers = Numbers::new(seed);
    let mut reads = stride(len, len);
    for batch in reads.chunks_mut(within) {
        for index in (1..batch.len()).rev() {
            batch.swap(index, numbers.below(index as u64 + 1) as usize);
        }
    }
    reads
}

pub(crate) fn random(seed: u64) -> Reads {
    let mut numbers = Numbers::new(seed);
    (0..20_480).map(|_| (numbers.below(PAGES), 1)).collect()
}
