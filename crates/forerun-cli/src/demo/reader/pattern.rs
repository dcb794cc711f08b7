//! The patterns of readers, and their names.

/// The pattern of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// One file from its beginning to its end.
    Sequential,
    /// Eight files, each by a thread of its own.
    Parallel,
    /// Eight streams in one open file, in turns.
    Interleaved,
    /// One file by eight threads that overtake each other.
    Displaced,
    /// Blocks of a large file in random order.
    Random,
    /// One file from its end to its beginning.
    Backward,
    /// A sixteenth of a file, in even steps.
    Strided,
    /// The same in small pieces.
    StridedBlocks,
    /// 128 streams in one open file, in turns.
    InterleavedMany,
    /// A short forward run at each of many places.
    Bursts,
    /// All of a file that fits into memory, in random order.
    Shuffled,
    /// Every file of a tree, in the order in which the directories list them.
    Walked,
    /// Files of a tree in random order.
    Opened,
    /// Sixty-four players, each with a file of its own.
    Paced,
    /// Pages of a large mapped file in random order.
    Mapped,
    /// The same by a program that advises the kernel so.
    MappedAdvised,
}

impl Pattern {
    /// The patterns of `forerun demo`.
    pub(crate) const DEMO: [Pattern; 5] =
        [Pattern::Sequential, Pattern::Parallel, Pattern::Interleaved, Pattern::Displaced, Pattern::Random];

    /// Further patterns of `forerun bench`.
    pub(crate) const MORE: [Pattern; 11] = [
        Pattern::Backward,
        Pattern::Strided,
        Pattern::StridedBlocks,
        Pattern::InterleavedMany,
        Pattern::Bursts,
        Pattern::Shuffled,
        Pattern::Walked,
        Pattern::Opened,
        Pattern::Paced,
        Pattern::Mapped,
        Pattern::MappedAdvised,
    ];

    /// Patterns that `forerun bench` repeats on a mount that has learned them.
    pub(crate) const LEARNED: [Pattern; 2] = [Pattern::Random, Pattern::Opened];

    /// The name for the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Pattern::Sequential => "sequential",
            Pattern::Parallel => "parallel",
            Pattern::Interleaved => "interleaved",
            Pattern::Displaced => "displaced",
            Pattern::Random => "random",
            Pattern::Backward => "backward",
            Pattern::Strided => "strided",
            Pattern::StridedBlocks => "strided-blocks",
            Pattern::InterleavedMany => "interleaved-many",
            Pattern::Bursts => "bursts",
            Pattern::Shuffled => "shuffled",
            Pattern::Walked => "walked",
            Pattern::Opened => "opened",
            Pattern::Paced => "paced",
            Pattern::Mapped => "mapped",
            Pattern::MappedAdvised => "mapped-advised",
        }
    }

    /// The name for a table.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Pattern::Sequential => "one file, sequential, 64 KiB",
            Pattern::Parallel => "8 files by 8 threads, 64 KiB",
            Pattern::Interleaved => "8 interleaved readers, one handle, 64 KiB",
            Pattern::Displaced => "one file by 8 threads, out of order, 32 KiB",
            Pattern::Random => "random, 4 KiB",
            Pattern::Backward => "one file, backward, 64 KiB",
            Pattern::Strided => "64 KiB of every 1 MiB",
            Pattern::StridedBlocks => "4 KiB of every 64 KiB",
            Pattern::InterleavedMany => "128 interleaved readers, one handle, 64 KiB",
            Pattern::Bursts => "2 MiB at each of 128 random places, 64 KiB",
            Pattern::Shuffled => "64 MiB file in random order, 64 KiB",
            Pattern::Walked => "2000 files of 4 to 64 KiB in 20 directories",
            Pattern::Opened => "300 files of 4 to 64 KiB in random order",
            Pattern::Paced => "64 files by 64 threads, 1 MB/s each",
            Pattern::Mapped => "mmap, random pages",
            Pattern::MappedAdvised => "mmap, random pages, MADV_RANDOM",
        }
    }

    /// The pattern named `name`.
    pub(crate) fn from_name(name: &str) -> Option<Pattern> {
        Pattern::DEMO.into_iter().chain(Pattern::MORE).find(|pattern| pattern.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for pattern in Pattern::DEMO.into_iter().chain(Pattern::MORE) {
            assert_eq!(Pattern::from_name(pattern.name()), Some(pattern));
        }
        assert_eq!(Pattern::from_name("linear"), None);
    }
}
