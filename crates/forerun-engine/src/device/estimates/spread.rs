//! The distribution of the times to first bytes: the typical time, and a time that nearly all fetches keep
//! within.
//!
//! It is a histogram of the last few hundred fetches, with eight bins for each power of two. When it is
//! full all counts are halved, so that old samples fade.

/// Shorter times share the first bin, longer ones the last: a microsecond and 18 minutes.
const OCTAVE_MIN: u32 = 10;
const OCTAVES: u32 = 30;
const STEPS: u32 = 8;
const BINS: usize = (OCTAVES * STEPS) as usize;
/// Times that it holds at most, and of which the half fades then.
const COUNT_MAX: u32 = 256;
/// Fewer tell nothing.
const COUNT_MIN: u32 = 8;
/// One fetch in this many may take longer than nearly all, and one more: a single one proves little.
const OUTLIER_SHARE: u32 = 64;
/// A reader is patient for at least this many typical times ...
const PATIENCE_TIMES: u64 = 2;
/// ... and, while few times are known, for this number over their count more.
const DOUBT_TIMES: u64 = 16;

/// From this many of 1024 on, large fetches come all at once.
const WHOLE_MIN: u64 = 768;

/// See the module's page.
#[derive(Debug)]
pub(crate) struct Spread {
    bins: [u16; BINS],
    /// Their sum.
    count: u32,
    /// Half of them took no longer; known together with the next.
    typical_ns: u64,
    patience_ns: Option<u64>,
    /// How many of 1024 large fetches came all at once, smoothed.
    whole: Option<u64>,
}

impl Spread {
    pub(crate) fn new() -> Spread {
        Spread { bins: [0; BINS], count: 0, typical_ns: 0, patience_ns: None, whole: None }
    }

    /// One took `ns`, or was given up after that.
    pub(crate) fn add_sample(&mut self, ns: u64) {
        if self.count == COUNT_MAX {
            self.bins.iter_mut().for_each(|bin| *bin /= 2);
            self.count = self.bins.iter().map(|bin| u32::from(*bin)).sum();
        }
        self.bins[bin_of(ns)] += 1;
        self.count += 1;
        if self.count >= COUNT_MIN {
            let typical = self.quantile(self.count.div_ceil(2));
            self.typical_ns = typical;
            let high = self.quantile(self.count - self.count / OUTLIER_SHARE - 1);
            let least = PATIENCE_TIMES * typical + DOUBT_TIMES * typical / u64::from(self.count);
            self.patience_ns = Some(least.max(high));
        }
    }

    /// Half of them took no longer, where [`Spread::patience_ns`] is known.
    pub(crate) fn typical_ns(&self) -> Option<u64> {
        self.patience_ns().map(|_| self.typical_ns)
    }

    /// A large fetch ended; whether all of it came at once. Then its time does not tell a
    /// long way from many bytes.
    pub(crate) fn record_large(&mut self, is_whole: bool) {
        let new = if is_whole { 1024 } else { 0 };
        self.whole = Some(self.whole.map_or(new, |mean| mean - mean / 8 + new / 8));
    }

    /// Whether large fetches come all at once; until one was seen they do not.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole.is_some_and(|mean| mean >= WHOLE_MIN)
    }

    /// Whether large fetches come one bit after the other; until one was seen they do not either.
    pub(crate) fn is_in_pieces(&self) -> bool {
        self.whole.is_some_and(|mean| mean < WHOLE_MIN)
    }

    /// A fetch that has brought nothing for so long is late: nearly all others take less,
    /// and most of them half of it. Nothing while too little is known, or where large fetches
    /// come all at once.
    pub(crate) fn patience_ns(&self) -> Option<u64> {
        self.patience_ns.filter(|_| !self.is_whole())
    }

    /// The upper end of the bin of the one that is in place `rank`, from 1, in order of time.
    fn quantile(&self, rank: u32) -> u64 {
        let mut below = 0;
        let bin = self.bins.iter().position(|bin| {
            below += u32::from(*bin);
            below >= rank
        });
        end_of(bin.unwrap_or(0))
    }
}

fn bin_of(ns: u64) -> usize {
    let octave = ns.max(1).ilog2();
    if octave < OCTAVE_MIN {
        return 0;
    }
    let step = (ns >> (octave - STEPS.ilog2())) as u32 & (STEPS - 1);
    (((octave - OCTAVE_MIN) * STEPS + step) as usize).min(BINS - 1)
}

fn end_of(bin: usize) -> u64 {
    let (octave, step) = (bin as u32 / STEPS + OCTAVE_MIN, bin as u64 % u64::from(STEPS));
    (u64::from(STEPS) + step + 1) << (octave - STEPS.ilog2())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// The patience that is known after `count` times of `ns`.
    fn known(spread: &mut Spread, count: u32, ns: u64) -> Option<u64> {
        (0..count).for_each(|_| spread.add_sample(ns));
        spread.patience_ns()
    }

    #[test]
    fn bins_are_an_eighth_wide() {
        for ns in [1 << 10, 1500, 14 * MS, 999 * MS, 1 << 39] {
            let end = end_of(bin_of(ns));
            assert!(ns < end && end <= ns + ns / 8 + 1, "{ns} is below {end}");
        }
        assert_eq!((bin_of(0), bin_of(u64::MAX)), (0, BINS - 1));
    }

    #[test]
    fn patience_is_twice_the_typical_time_and_more_while_little_is_known() {
        let mut spread = Spread::new();
        assert_eq!(known(&mut spread, 7, 10 * MS), None);
        let doubtful = known(&mut spread, 1, 10 * MS).unwrap();
        assert!((40 * MS..46 * MS).contains(&doubtful), "{doubtful}");
        let sure = known(&mut spread, 200, 10 * MS).unwrap();
        assert!((20 * MS..24 * MS).contains(&sure), "{sure}");
    }

    #[test]
    fn one_in_a_hundred_is_late_and_one_in_ten_is_not() {
        for (period, is_late) in [(100, true), (10, false)] {
            let mut spread = Spread::new();
            (0..1000).for_each(|at| spread.add_sample(if at % period == 7 { 500 * MS } else { 10 * MS }));
            assert_eq!(spread.patience_ns().unwrap() < 500 * MS, is_late, "one in {period}");
        }
    }

    #[test]
    fn no_fetch_is_late_where_all_bytes_come_at_once() {
        let mut spread = Spread::new();
        known(&mut spread, 100, 10 * MS);
        spread.record_large(true);
        assert_eq!(spread.patience_ns(), None);
        (0..4).for_each(|_| spread.record_large(false));
        assert!(spread.patience_ns().is_some());
    }

    #[test]
    fn patience_adapts_to_a_slower_backend() {
        let mut spread = Spread::new();
        known(&mut spread, 1000, 10 * MS);
        assert!(known(&mut spread, 6, 1000 * MS).unwrap() >= 1000 * MS);
        known(&mut spread, 1000, 1000 * MS);
        // Old samples fade.
        assert!(known(&mut spread, 1000, 10 * MS).unwrap() < 24 * MS);
    }
}
