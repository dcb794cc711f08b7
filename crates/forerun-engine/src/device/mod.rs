//! A running model of the backend: how long until the first byte, how many bytes
//! a second, how many fetches at once are worth it, how large they should be.
//!
//! All of it is measured on the fetches the engine makes anyway (`sample.rs`, `measure.rs`);
//! what follows from it is worked out in `advice.rs`.

mod advice;
mod filter;
mod growth;
mod lone;
mod measure;
mod rates;
mod sample;
mod spread;
mod switching;

use crate::config::Config;
use crate::types::DeviceEstimate;
use advice::Advice;
use filter::Filter;
use growth::Growth;
use lone::Lone;
pub(crate) use rates::{bytes_in, rate, time_of, whole_blocks};
pub(crate) use sample::Sample;
use spread::Spread;
use switching::Switching;

/// Before anything is measured: a store in the same region.
const LATENCY_NS_GUESS: u64 = 10_000_000;
/// And a disk or a link of a gigabit a second.
const BANDWIDTH_GUESS: u64 = 100_000_000;
/// A network with a switch or two takes less, any other store more.
const FAR_NS: u64 = 1_500_000;
/// No disk needs longer for a request, wherever its head is.
const DISK_NS_MAX: u64 = 50_000_000;
/// A pause is a stall after so many times as long as nearly all fetches ever pause.
const STALL_TIMES: u64 = 4;
/// Where a fetch comes all at once, what a reader waits for has no more of the smallest fetch.
const RIDE_WHOLE_SHARE: u64 = 4;
/// Pieces that go along with what a reader waits for, at most.
const RIDE_PIECES: u64 = 4;

/// See the module's page.
#[derive(Debug)]
pub(crate) struct Device {
    fetch_bytes_min: u64,
    fetch_bytes_max: u64,
    pipe_bytes_max: u64,
    /// Bytes that have arrived since the start.
    delivered_bytes: u64,
    /// Bytes per second of all fetches together.
    throughput: Filter,
    /// Bytes per second of one fetch, once its first bytes are there.
    bandwidth: Filter,
    latency_least: Filter,
    latency_ns: u64,
    latency_deviation_ns: u64,
    /// From dispatch to the last byte, smoothed.
    service_ns: u64,
    /// Until the first bytes of fetches that found none ahead.
    lone: Lone,
    /// Until the first bytes of any.
    spread: Spread,
    /// Of each the longest time in which nothing came once it had begun.
    pauses: Spread,
    switching: Switching,
    growth: Growth,
    advice: Advice,
}

impl Device {
    pub(crate) fn new(config: &Config) -> Device {
        // A thirty-second of the budget, so that many fetches fit at once.
        let max = whole_blocks(config.fetch_bytes_max.min(config.memory_bytes_max / 32));
        let mut device = Device {
            fetch_bytes_min: whole_blocks(config.fetch_bytes_min.min(max)),
            fetch_bytes_max: max,
            pipe_bytes_max: config.memory_bytes_max / 2,
            delivered_bytes: 0,
            throughput: Filter::largest(),
            bandwidth: Filter::largest(),
            latency_least: Filter::smallest(),
            latency_ns: LATENCY_NS_GUESS,
            latency_deviation_ns: LATENCY_NS_GUESS / 2,
            service_ns: LATENCY_NS_GUESS,
            lone: Lone::default(),
            spread: Spread::new(),
            pauses: Spread::new(),
            switching: Switching::new(),
            growth: Growth::default(),
            advice: Advice::default(),
        };
        device.advise();
        device
    }

    pub(crate) fn estimate(&self) -> DeviceEstimate {
        DeviceEstimate {
            latency_ns: self.latency_ns,
            throughput_bytes_per_s: self.throughput.get().unwrap_or(0),
            fetch_bytes: self.fetch_bytes(),
            pipe_bytes: self.pipe_bytes(),
        }
    }

    /// Bytes that should be fetched of a stream at a time.
    pub(crate) fn fetch_bytes(&self) -> u64 {
        self.advice.fetch_bytes
    }

    /// Bytes a fetch should have: [`Device::fetch_bytes`], but less where a reader
    /// who comes meanwhile would have to wait until it has ended.
    pub(crate) fn piece_bytes(&self) -> u64 {
        self.advice.piece_bytes
    }

    /// Bytes of a fetch that a reader waits for, with those that go along. A
    /// stream's reader who had to wait does not want to do so again soon. Where the rest
    /// comes beside it, its own connection is what takes time, and the reader, who comes
    /// to its end first, waits for it: then it is no longer than the shortest of those.
    /// And where it comes all at once its reader waits for whatever goes along: that is
    /// better fetched beside it, unless a head moves for each.
    pub(crate) fn ride_bytes(&self) -> u64 {
        if self.spread.is_whole() && !self.has_head() {
            return whole_blocks(self.fetch_bytes_min / RIDE_WHOLE_SHARE);
        }
        if self.is_serial() || self.turn_bytes().is_some() {
            return self.fetch_bytes().min(RIDE_PIECES * self.piece_bytes());
        }
        self.fetch_bytes_among(0, false).max(self.fetch_bytes_min)
    }

    /// If the backend serves one fetch at a time: how many bytes should be read
    /// of a stream before it goes elsewhere.
    pub(crate) fn turn_bytes(&self) -> Option<u64> {
        self.advice.turn_bytes
    }

    /// If every fetch costs time in which none else is served, wherever it is: how many
    /// bytes could be read in that time, and so are better read through than left out. 0 if
    /// others overlap it.
    pub(crate) fn through_bytes(&self) -> u64 {
        self.advice.through_bytes
    }

    /// Where fetches are served one after the other: how many may be under way. There are
    /// two now and then, to see whether they overlap after all.
    pub(crate) fn places_in_turn(&self) -> usize {
        if self.switching.is_probe() { 2 } else { 1 }
    }

    /// The size for a fetch that joins `in_flight` others: from half of
    /// [`Device::piece_bytes`] up. Fetches of one size that start together end
    /// together, and while the next ones wait for their first bytes the link
    /// carries nothing; different sizes get them out of step for good. Where fetches are served
    /// one after the other and somebody waits between any two of them, it is worth going there
    /// and back.
    pub(crate) fn fetch_bytes_among(&self, in_flight: usize, is_contended: bool) -> u64 {
        let fetch = self.piece_bytes();
        if self.turn_bytes().is_some() {
            return if is_contended { self.advice.contended_piece_bytes } else { fetch };
        }
        whole_blocks(fetch / 2 + fetch / 32 * (in_flight as u64 % 17))
    }

    /// Bytes in flight that are worth it.
    pub(crate) fn pipe_bytes(&self) -> u64 {
        self.advice.pipe_bytes
    }

    /// The same while somebody waits who cannot be read ahead of: what keeps the link full
    /// and little more, which that would have to wait for.
    pub(crate) fn contended_bytes(&self) -> u64 {
        self.advice.contended_bytes
    }

    /// Whether fetches side by side may bring no more than one after the other, as
    /// from a disk, which has one head: then it matters in which order bytes are
    /// fetched. So it is taken to be unless a single fetch is seen to be slower.
    pub(crate) fn is_serial(&self) -> bool {
        let throughput = self.throughput.get().unwrap_or(0);
        self.bandwidth.get().is_none_or(|bandwidth| throughput <= bandwidth + bandwidth / 4)
    }

    /// Whether the backend serves one fetch at a time, or that is not known yet.
    pub(crate) fn may_take_turns(&self) -> bool {
        !self.switching.is_judged() || self.may_be_disk() || self.turn_bytes().is_some()
    }

    /// Whether fetches side by side may bring no more, and each waits as long as for a head.
    pub(crate) fn may_be_disk(&self) -> bool {
        self.is_serial() && self.switching.is_slow_to_begin()
    }

    /// Whether there is, or may be, a head that moves for whatever lies elsewhere.
    fn has_head(&self) -> bool {
        self.may_be_disk() || self.turn_bytes().is_some()
    }

    /// The same where nothing else takes long: far away, a link does.
    fn has_own_head(&self) -> bool {
        self.has_head() && !self.is_far_link()
    }

    /// Whether even the luckiest fetch of late waited so long for its first bytes that saving a
    /// wait is worth many bytes. A disk's luckiest comes from its own buffer.
    pub(crate) fn is_far(&self) -> bool {
        self.latency_least.get().unwrap_or(LATENCY_NS_GUESS) >= FAR_NS
    }

    /// Whether it is far away, and bytes of a fetch come one after the other, as over a connection.
    pub(crate) fn is_far_link(&self) -> bool {
        self.is_far() && self.bandwidth.get().is_some()
    }

    /// What one fetch could carry in the time that its latency takes: asking for
    /// that much too much at most doubles a request's cost.
    //= Li, Papathanasiou, Shen, "Competitive prefetching for concurrent sequential I/O", 2007
    pub(crate) fn competitive_bytes(&self) -> u64 {
        self.advice.competitive_bytes
    }

    /// Bytes that all fetches together deliver while a reader waits for one, near by for a lone one.
    pub(crate) fn wait_bytes(&self) -> u64 {
        self.advice.wait_bytes
    }

    /// The same while a reader waits for what comes right after what it has read.
    pub(crate) fn next_bytes(&self) -> u64 {
        self.worth(self.lone.next_ns.or(self.latency_least.get()).unwrap_or(LATENCY_NS_GUESS))
    }

    /// The same while a reader waits for what comes soon after what was read lately, if there may be a
    /// head that is not far from it, and that was seen.
    pub(crate) fn near_bytes(&self) -> Option<u64> {
        self.lone.near_ns.filter(|_| self.has_own_head()).map(|ns| self.worth(ns))
    }

    /// Bytes that could be read while a reader waits for `ns`.
    fn worth(&self, ns: u64) -> u64 {
        let bytes = bytes_in(ns, self.throughput.get().unwrap_or(0));
        if self.has_own_head() { bytes.min(self.switching.bytes_in(ns)) } else { bytes }
    }

    /// The same for who asks for more at once than anybody did.
    pub(crate) fn fill_bytes(&self) -> u64 {
        bytes_in(self.lone.all_ns.or(self.latency_least.get()).unwrap_or(LATENCY_NS_GUESS), self.rate())
    }

    /// Bytes a second that all fetches together could bring.
    fn rate(&self) -> u64 {
        let bandwidth = self.bandwidth.get().unwrap_or(BANDWIDTH_GUESS);
        self.throughput.get().unwrap_or(0).max(bandwidth)
    }

    /// Nearly every fetch has delivered its last byte after this long.
    pub(crate) fn service_high_ns(&self) -> u64 {
        self.service_ns.max(self.latency_ns) + 4 * self.latency_deviation_ns
    }

    /// A fetch that has brought nothing for so long is late, and may be asked for again.
    /// Nothing where that helps nobody: near by, where one has to wait for another, and
    /// before enough is known.
    pub(crate) fn patience_ns(&self) -> Option<u64> {
        self.advice.patience_ns
    }

    /// A fetch of which bytes came and then none for so long has stalled: far longer than any
    /// pauses, and longer than a new one takes to begin.
    pub(crate) fn pause_patience_ns(&self) -> Option<u64> {
        let pause = STALL_TIMES.saturating_mul(self.pauses.patience_ns()?);
        Some(self.patience_ns()?.max(pause))
    }

    /// Before that one of `count` fetches, which have `bytes` bytes, is no exception: where
    /// they may be served one after the other it has to wait for all of them, and perhaps
    /// for a head that goes to each.
    pub(crate) fn excuse_ns(&self, count: usize, bytes: u64) -> u64 {
        if !self.is_serial() {
            return 0;
        }
        let moves = if self.switching.is_slow_to_begin() { DISK_NS_MAX * count as u64 } else { 0 };
        moves + time_of(2 * bytes, self.throughput.get().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Extent, ObjectId, Time};

    const MIB: u64 = 1 << 20;

    /// What is learned of `count` fetches of `bytes` each whose first bytes come after
    /// 10 ms, and the last after as much again.
    fn after(count: usize, bytes: u64) -> Device {
        let mut device = Device::new(&Config::new(256 * MIB));
        let samples: alloc::vec::Vec<Sample> = (0..count)
            .map(|ahead| {
                let extent = Extent::new(ahead as u64 * 64 * MIB, bytes);
                let sample = device.on_dispatch(Time(0), ObjectId(0), extent, ahead);
                Sample { first_arrived: Time(10_000_000), ..sample }
            })
            .collect();
        samples.iter().for_each(|sample| device.on_first_bytes(sample.first_arrived, sample));
        device.on_bytes(count as u64 * bytes);
        for sample in &samples {
            device.on_ended();
            device.on_fetched(Time(20_000_000), sample, 0);
        }
        device
    }

    #[test]
    fn a_reader_waits_for_no_longer_a_fetch_than_the_others_beside_it() {
        let device = after(8, MIB);
        assert_eq!((device.fetch_bytes(), device.ride_bytes()), (MIB / 2, MIB / 4));
        // One connection brings as much as several.
        let device = after(1, 8 * MIB);
        assert_eq!((device.fetch_bytes(), device.ride_bytes()), (MIB / 2, MIB / 2));
    }

    #[test]
    fn a_turn_that_somebody_interrupts_is_worth_going_there_and_back() {
        let mut device = Device::new(&Config::new(256 * MIB));
        // A disk: every fetch is elsewhere and takes 8 ms to get there, and 4 for its bytes; or it
        // goes on where the one before ended.
        let mut now = 0;
        for round in 0..64 {
            let samples = [0, 1, 2, 3, 4, 5, 6, 7].map(|ahead| {
                let offset = (ahead as u64 / 2 * 64 + round) * MIB + ahead as u64 % 2 * (MIB / 4);
                device.on_dispatch(Time(now), ObjectId(0), Extent::new(offset, MIB / 4), ahead)
            });
            for sample in samples {
                now += if sample.ahead % 2 == 0 { 12_000_000 } else { 4_000_000 };
                let sample = Sample { first_arrived: Time(now), first_bytes: MIB / 4, ..sample };
                device.on_first_bytes(Time(now), &sample);
                device.on_bytes(MIB / 4);
                device.on_ended();
                device.on_fetched(Time(now), &sample, 0);
            }
        }
        // 512 KiB could be read during a move.
        assert_eq!(device.fetch_bytes_among(0, false), MIB / 4);
        assert_eq!(device.fetch_bytes_among(0, true), MIB);
    }

    #[test]
    fn a_reader_waits_for_little_else_where_fetches_come_all_at_once() {
        let mut device = after(8, MIB);
        let before = device.ride_bytes();
        (0..16).for_each(|_| device.spread.note_large(true));
        assert_eq!((before, device.ride_bytes()), (MIB / 4, MIB / 16));
    }
}
