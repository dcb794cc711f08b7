//! No valid state: the cached pages before the present one are its past.
//!
//! A run of cached pages before the present one shows how much of a stream survives in the cache. So as many
//! pages may be read ahead, although nothing else is known.

use super::{AraClass, Call, chunk::Size};

impl Call<'_> {
    /// False if this is a random read, or a mark that means nothing.
    pub(super) fn read_by_context(&mut self) -> bool {
        let (page, hit_rate) = (self.page, self.tuning.hit_rate);
        if self.is_present {
            // Readahead starts behind the cached pages; there is none if those reach far enough.
            let Some(start) = self.pages.next_hole(page, self.ra_max + self.ra_min) else { return true };
            return self.read_with_past(page, start, self.ra_min, false);
        }
        if page == self.stream.previous.wrapping_add(1) {
            return self.read_with_past(page, page, self.ra_min, false);
        }
        if hit_rate > 0 && self.pages.is_cached(page - 1) {
            return self.read_with_past(page, page, self.ra_min.min(2 * hit_rate), false);
        }
        // A sparse read: as if it began behind its neighbour.
        let neighbour = (1..self.ra_min.min(page + 1)).find(|gap| self.pages.is_cached(page - gap));
        match neighbour {
            Some(gap) if hit_rate > 1 => {
                self.read_with_past(page - gap + 1, page - gap + 1, self.ra_min + gap, false)
            }
            _ => false,
        }
    }

    /// Reads ahead from `start`, which is missing, if there is a past before it. It does not matter whether
    /// the pages of that past were read.
    pub(super) fn read_after(&mut self, start: u64) {
        self.read_with_past(start, start, self.ra_min, true);
    }

    /// Reads ahead from `start` on the evidence of the pages before `page`. False if there are none.
    fn read_with_past(&mut self, page: u64, start: u64, ra_min: u64, is_trusted: bool) -> bool {
        let past = self.past(page, is_trusted);
        if past == 0 {
            return false;
        }
        let ahead = start - page;
        if self.is_present && past < ahead {
            if past < page {
                self.rescue(ahead);
            }
            return true;
        }
        let (class, size) = if past >= page {
            // All from the start of the file: as much again.
            let ra = page - page.min(ahead) + page;
            (AraClass::ContextAggressive, Size { ra, la: page })
        } else {
            let ra = ra_min.max(past * self.tuning.ratio_percent / 100);
            if ra <= ahead {
                return true;
            }
            (AraClass::Context, Size { ra: ra - ahead, la: (ra - ahead) / 8 })
        };
        self.submit(class, page, start, size.limited(self.ra_max, ahead));
        true
    }

    /// Pages in a row before `page` that are cached; 0 if too few of them seem
    /// to have been read.
    fn past(&self, page: u64, is_trusted: bool) -> u64 {
        let mut count = self.pages.cached_before(page, self.ra_max);
        if count == 0 {
            return 0;
        }
        let hits = self.estimated_hits(page - count, count);
        if !is_trusted && hits * self.tuning.hit_rate.max(1) < count {
            return 0;
        }
        if count >= self.ra_max {
            let reach = self.ra_max * 9 * 100 / (self.tuning.ratio_percent | 1);
            while count < reach && page >= count && self.pages.is_cached(page - count) {
                count += self.ra_max;
            }
        }
        count
    }

    /// How many of `count` pages from `head` on were read, from at most eight
    /// probes; two that were are enough.
    fn estimated_hits(&self, head: u64, count: u64) -> u64 {
        let (mut hits, mut probes) = (0, 0);
        while probes < 8 && hits < 2 {
            let page = head + count * (29 * probes % 8) / 8;
            hits += u64::from(self.pages.cache.is_inactive_and_read(self.pages.object, page));
            probes += 1;
        }
        count * hits / probes
    }
}
