//! The names of the rules, each of which a build with the feature `ablate` can switch off.
//!
//! The product has no such switch: without the feature every rule is on, and the compiler removes the questions.

macro_rules! rules {
    ($($rule:ident $name:literal $gist:literal;)+) => {
        /// One rule of `adaptive`, or of the engine below it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = $gist] $rule,)+
        }

        impl Rule {
            /// Every rule, part by part.
            pub const ALL: &'static [Rule] = &[$(Rule::$rule),+];

            /// One or two words of lower-case letters and dashes.
            pub const fn name(self) -> &'static str {
                match self { $(Rule::$rule => $name),+ }
            }

            /// One sentence that says what the rule does.
            pub const fn gist(self) -> &'static str {
                match self { $(Rule::$rule => $gist),+ }
            }
        }
    };
}

rules! {
    Start "start" "A read at the start of an object begins a stream at once.";
    Disorder "disorder" "A read within 32 requests of what comes next belongs to the stream.";
    Strides "strides" "Runs at even steps are one stream.";
    Beside "beside" "A read of a stream may begin another one, beside it.";
    Sparse "sparse" "A stream that leaves out too much is over.";
    Line "line" "Candidates that came first become streams first, and get bets.";
    Chance "chance" "A stream that reads at random would make as well is doubted.";
    Looks "looks" "A stream stops where its reader looked before it began.";
    Regions "regions" "A block that is read all over is filled.";
    Near "near" "A fetch also brings the places near it that are often read after such reads.";
    Lengths "lengths" "A stream ends where streams before it ended.";
    Heads "heads" "An object is read as far from its start as the objects before it.";
    Tails "tails" "A read of the last bytes of an object brings the index before them.";
    Settle "settle" "A stream that nobody reads is over, and the bytes ahead of it are lost.";
    FillTrust "fill-trust" "Filling in one object depends on what filling gained in all.";
    Passed "passed" "On a disk, objects that readers pass over are not filled.";
    Price "price" "Lost bytes make a wait worth less.";
    Trust "trust" "A stream has at most twice as much ahead as it has read.";
    AllLosses "all-losses" "All objects together lose no more than a few starts and a share of the used bytes.";
    Room "room" "No more is reserved than may be wasted.";
    Balance "balance" "On a busy device, guesses cost no more than a quarter of the waits that they have saved.";
    DeviceShare "device-share" "Streams share twice what keeps the device busy.";
    MemoryShare "memory-share" "Streams share three quarters of the memory.";
    Step "step" "A window of a reader that waits grows to a few waits at once.";
    Fed "fed" "The window of a reader that does not wait is refilled when a quarter is left, if that lasts.";
    Leaps "leaps" "Where coming back is dear, a window is refilled by halves.";
    Ride "ride" "A fetch that a reader waits for takes the window that follows along.";
    Uneven "uneven" "Fetches that start together have different sizes.";
    Slices "slices" "On a disk, streams take turns of 16 seeks.";
    Contended "contended" "Less is in flight while somebody waits who cannot be read ahead of.";
    Growth "growth" "Bytes in flight double while that brings more.";
    Hedge "hedge" "A late fetch is repeated.";
    Crowding "crowding" "Readahead that its reader has passed goes first once half of the memory is unread.";
    Pace "pace" "Readahead stays while its reader still comes nearer.";
    Walks "walks" "Readers that go through a directory are followed.";
}

#[cfg(feature = "ablate")]
static OFF: core::sync::atomic::AtomicU64 = core::sync::atomic::AtomicU64::new(0);

/// Switches `rules` off, and all others on, for every engine of this process.
#[cfg(feature = "ablate")]
pub fn switch_off(rules: &[Rule]) {
    const { assert!(Rule::ALL.len() <= u64::BITS as usize, "one bit each") };
    let off = rules.iter().fold(0, |off, rule| off | 1 << *rule as u64);
    OFF.store(off, core::sync::atomic::Ordering::Relaxed);
}

impl Rule {
    #[cfg(feature = "ablate")]
    pub(crate) fn is_off(self) -> bool {
        OFF.load(core::sync::atomic::Ordering::Relaxed) >> self as u64 & 1 == 1
    }

    #[cfg(not(feature = "ablate"))]
    pub(crate) const fn is_off(self) -> bool {
        false
    }
}
