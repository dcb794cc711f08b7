//! Events, counted as the algorithm's debugfs file did.

/// Which method made a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AraClass {
    /// None yet.
    #[default]
    None,
    /// The start of a file.
    Initial,
    /// Sequential reading with a valid state.
    State,
    /// Cached pages taken for a stream's past.
    Context,
    /// The same with everything from the start of the file cached.
    ContextAggressive,
    /// Reading backward.
    Backward,
    /// Pages read ahead were lost.
    Thrashing,
}

/// Something that happened. Waits for I/O (`io_block`) are the read loop's to
/// count, and mapped files (`readahead_mmap`) are not read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AraEvent {
    /// A page that is read was not cached.
    CacheMiss,
    /// Read as asked.
    RandomRead,
    /// A mark was passed over because the device had enough to do.
    IoCongestion,
    /// Pages of a chunk that were cached already.
    IoCacheHit,
    /// Chunks, and their pages that were not cached.
    Readahead,
    /// Pages of chunks that were read.
    ReadaheadHit,
    /// Chunks with a mark, and their pages from it on.
    Lookahead,
    /// Marks that were read.
    LookaheadHit,
    /// Marks that were read and led to nothing.
    LookaheadIgnore,
    /// Chunks that end where the file does.
    ReadaheadEof,
    /// Nothing was read because the pages would not survive ahead of the reader.
    ReadaheadShrink,
    /// Pages that were lost before they were read.
    ReadaheadThrash,
    /// Such losses while the page before was still cached.
    ReadaheadMutilate,
    /// Pages ahead that were kept from being reclaimed.
    ReadaheadRescue,
}

impl AraEvent {
    /// Every event, in the order tables show them.
    pub const ALL: [AraEvent; EVENTS] = [
        AraEvent::CacheMiss,
        AraEvent::RandomRead,
        AraEvent::IoCongestion,
        AraEvent::IoCacheHit,
        AraEvent::Readahead,
        AraEvent::ReadaheadHit,
        AraEvent::Lookahead,
        AraEvent::LookaheadHit,
        AraEvent::LookaheadIgnore,
        AraEvent::ReadaheadEof,
        AraEvent::ReadaheadShrink,
        AraEvent::ReadaheadThrash,
        AraEvent::ReadaheadMutilate,
        AraEvent::ReadaheadRescue,
    ];

    /// The name tables show.
    pub fn name(self) -> &'static str {
        match self {
            AraEvent::CacheMiss => "cache_miss",
            AraEvent::RandomRead => "random_read",
            AraEvent::IoCongestion => "io_congestion",
            AraEvent::IoCacheHit => "io_cache_hit",
            AraEvent::Readahead => "readahead",
            AraEvent::ReadaheadHit => "readahead_hit",
            AraEvent::Lookahead => "lookahead",
            AraEvent::LookaheadHit => "lookahead_hit",
            AraEvent::LookaheadIgnore => "lookahead_ignore",
            AraEvent::ReadaheadEof => "readahead_eof",
            AraEvent::ReadaheadShrink => "readahead_shrink",
            AraEvent::ReadaheadThrash => "readahead_thrash",
            AraEvent::ReadaheadMutilate => "readahead_mutilate",
            AraEvent::ReadaheadRescue => "readahead_rescue",
        }
    }
}

impl AraClass {
    /// Every class, in the order tables show them.
    pub const ALL: [AraClass; CLASSES] = [
        AraClass::None,
        AraClass::Initial,
        AraClass::State,
        AraClass::Context,
        AraClass::ContextAggressive,
        AraClass::Backward,
        AraClass::Thrashing,
    ];

    /// The name tables show.
    pub fn name(self) -> &'static str {
        match self {
            AraClass::None => "none",
            AraClass::Initial => "initial",
            AraClass::State => "state",
            AraClass::Context => "context",
            AraClass::ContextAggressive => "contexta",
            AraClass::Backward => "backward",
            AraClass::Thrashing => "onthrash",
        }
    }
}

const CLASSES: usize = 7;
const EVENTS: usize = 14;

/// How often something happened, and to how many pages together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Times.
    pub count: u64,
    /// Pages.
    pub pages: u64,
}

/// Counts of every event, by the class of the chunk it concerns.
#[derive(Clone, Debug, Default)]
pub struct AraEvents {
    tallies: [[Tally; EVENTS]; CLASSES],
}

impl AraEvents {
    /// The event for chunks of one class.
    pub fn of(&self, class: AraClass, event: AraEvent) -> Tally {
        self.tallies[class as usize][event as usize]
    }

    /// The event for all chunks.
    pub fn total(&self, event: AraEvent) -> Tally {
        self.tallies.iter().fold(Tally::default(), |sum, class| {
            let tally = class[event as usize];
            Tally { count: sum.count + tally.count, pages: sum.pages + tally.pages }
        })
    }

    pub(super) fn add(&mut self, class: AraClass, event: AraEvent, pages: u64) {
        let tally = &mut self.tallies[class as usize][event as usize];
        tally.count += 1;
        tally.pages += pages;
    }
}
