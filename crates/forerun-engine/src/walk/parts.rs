//! Which parts of files of a kind were read of late.

/// How far into files of a kind the last few readers read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Heads {
    /// In bytes; `u64::MAX` for a file that was read to its end.
    seen: [Option<u64>; 4],
    next: usize,
}

impl Heads {
    pub(super) fn note(&mut self, read: u64, size: u64) {
        let is_whole = read >= size;
        // The end of a file that is shorter than the heads of others tells nothing.
        if is_whole && self.most().is_some_and(|most| most < u64::MAX && size <= most) {
            return;
        }
        self.seen[self.next] = Some(if is_whole { u64::MAX } else { read });
        self.next = (self.next + 1) % self.seen.len();
    }

    pub(super) fn most(&self) -> Option<u64> {
        self.seen.iter().flatten().copied().max()
    }
}

/// How much of the end of files of a kind the last few readers read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tails {
    seen: [u64; 4],
    next: usize,
}

impl Tails {
    pub(super) fn note(&mut self, read: u64) {
        self.seen[self.next] = read;
        self.next = (self.next + 1) % self.seen.len();
    }

    pub(super) fn most(&self) -> u64 {
        self.seen.iter().copied().max().unwrap_or(0)
    }
}
