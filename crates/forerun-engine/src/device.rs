//! A running model of the backend: how long until the first byte, how many bytes
//! a second, how many fetches at once are worth it, how large they should be.
//!
//! All of it is measured on the fetches the engine makes anyway.

use crate::config::Config;
use crate::filter::Filter;
use crate::spread::Spread;
use crate::switching::Switching;
use crate::types::{BLOCK_BYTES, DeviceEstimate, ObjectId, Time};

/// Before anything is measured: a store in the same region.
const LATENCY_NS_GUESS: u64 = 10_000_000;
/// And a disk or a link of a gigabit a second.
const BANDWIDTH_GUESS: u64 = 100_000_000;
/// A network with a switch or two takes less, any other store more.
const FAR_NS: u64 = 1_500_000;
/// Fetches at once to begin with: enough to find out.
const FETCHES_MIN: u64 = 16;
/// Fewer where one fetch alone nearly fills the link and the first bytes of most come after so
/// many times the least latency: more would only wait for one another, and readers for all.
const FETCHES_CROWDED_MIN: u64 = 4;
const CROWDED_LATENCIES: u64 = 4;
/// A fetch must carry that much for its own bandwidth to be more than noise.
const BANDWIDTH_SAMPLE_BYTES: u64 = 128 << 10;
/// No disk needs longer for a request, wherever its head is.
const DISK_NS_MAX: u64 = 50_000_000;
/// Where moving is dear, a stream is read on for so many times what could be
/// read during a move: it takes a seventeenth of the time then.
const TURN_MOVES: u64 = 16;
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
    /// Until the first bytes of a fetch that found none ahead, smoothed.
    lone_ns: Option<u64>,
    /// Until the first bytes of any.
    spread: Spread,
    switching: Switching,
    advice: Advice,
}

/// What follows from the measurements; worked out when they change, because it
/// is asked for far more often.
#[derive(Clone, Copy, Debug, Default)]
struct Advice {
    fetch_bytes: u64,
    piece_bytes: u64,
    turn_bytes: Option<u64>,
    through_bytes: u64,
    pipe_bytes: u64,
    contended_bytes: u64,
    competitive_bytes: u64,
    wait_bytes: u64,
    patience_ns: Option<u64>,
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
            lone_ns: None,
            spread: Spread::new(),
            switching: Switching::new(),
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

    pub(crate) fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
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
    /// stream's reader who had to wait does not want to do so again soon.
    pub(crate) fn ride_bytes(&self) -> u64 {
        self.fetch_bytes().min(RIDE_PIECES * self.piece_bytes())
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
    /// carries nothing; different sizes get them out of step for good.
    pub(crate) fn fetch_bytes_among(&self, in_flight: usize) -> u64 {
        let fetch = self.piece_bytes();
        if self.turn_bytes().is_some() {
            return fetch;
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

    /// Whether fetches side by side may bring no more, and each waits as long as for a head.
    pub(crate) fn may_be_disk(&self) -> bool {
        self.is_serial() && self.switching.is_slow_to_begin()
    }

    /// Whether even the luckiest fetch of late waited so long for its first bytes that saving a
    /// wait is worth many bytes. A disk's luckiest comes from its own buffer.
    pub(crate) fn is_far(&self) -> bool {
        self.latency_least.get().unwrap_or(LATENCY_NS_GUESS) >= FAR_NS
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

    /// The same for who asks for more at once than anybody did.
    pub(crate) fn fill_bytes(&self) -> u64 {
        bytes_in(self.lone_ns.or(self.latency_least.get()).unwrap_or(LATENCY_NS_GUESS), self.rate())
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

    /// A fetch is given up that has brought nothing since `dispatched`.
    pub(crate) fn on_given_up(&mut self, now: Time, dispatched: Time) {
        self.spread.note(now.since(dispatched));
    }

    /// A fetch is dispatched; how many were before it.
    pub(crate) fn on_dispatch(&mut self) -> u64 {
        self.switching.on_dispatch()
    }

    /// A fetch ended, well or not.
    pub(crate) fn on_ended(&mut self) {
        self.switching.on_ended();
    }

    /// The first bytes of a fetch came.
    pub(crate) fn on_first_bytes(&mut self, now: Time, sample: &Sample) {
        let wait_ns = now.since(sample.dispatched);
        self.switching.on_first_bytes(sample);
        // The estimator of TCP's retransmission timer (RFC 6298, section 2).
        if self.latency_least.get().is_none() {
            self.latency_ns = wait_ns;
            self.latency_deviation_ns = wait_ns / 2;
        } else {
            let off = self.latency_ns.abs_diff(wait_ns);
            self.latency_deviation_ns = self.latency_deviation_ns - self.latency_deviation_ns / 4 + off / 4;
            self.latency_ns = self.latency_ns - self.latency_ns / 8 + wait_ns / 8;
        }
        if sample.ahead == 0 {
            self.lone_ns = Some(self.lone_ns.map_or(wait_ns, |mean| mean - mean / 8 + wait_ns / 8));
        }
        self.latency_least.add(now, wait_ns);
        self.spread.note(wait_ns);
        self.advise();
    }

    /// `bytes` more bytes arrived.
    pub(crate) fn on_bytes(&mut self, bytes: u64) {
        self.delivered_bytes += bytes;
    }

    /// A fetch ended well. What all fetches delivered while it was on its way, over
    /// that time, is a sample of the throughput; what it delivered itself after
    /// its first bytes is one of the bandwidth of a single fetch.
    pub(crate) fn on_fetched(&mut self, now: Time, sample: &Sample) {
        let took = now.since(sample.dispatched);
        self.throughput.add(now, rate(self.delivered_bytes - sample.delivered_before, took));
        self.service_ns = self.service_ns - self.service_ns / 8 + took / 8;
        let rest = sample.bytes - sample.first_bytes;
        if rest >= BANDWIDTH_SAMPLE_BYTES {
            self.bandwidth.add(now, rate(rest, now.since(sample.first_arrived)));
        }
        if sample.bytes >= BANDWIDTH_SAMPLE_BYTES {
            self.spread.note_large(rest == 0);
        }
        self.switching.on_fetched(now, sample);
        self.advise();
    }

    fn advise(&mut self) {
        self.advice = if self.switching.cost_ns() > 0 { self.in_turns() } else { self.at_once() };
        // Near by, readahead itself makes most of a wait beside it, and must not raise its own price.
        let lone = self.lone_ns.filter(|_| !self.is_far());
        let wait = self.latency_ns.min(lone.unwrap_or(u64::MAX));
        self.advice.wait_bytes = bytes_in(wait, self.throughput.get().unwrap_or(0));
        let is_told = self.is_far() && self.turn_bytes().is_none();
        let patience = self.spread.patience_ns().filter(|_| is_told);
        self.advice.patience_ns = patience.map(|patience| patience.max(self.excuse_ns(1, 0)));
    }

    /// The advice for a backend that serves one fetch at a time. A fetch takes
    /// no longer than a move, so that whoever comes meanwhile waits little.
    fn in_turns(&self) -> Advice {
        let cost = self.switching.bytes_in(self.switching.cost_ns());
        let through = self.switching.bytes_in(self.switching.request_ns());
        let turn = (TURN_MOVES * cost).next_power_of_two().clamp(self.fetch_bytes_min, self.fetch_bytes_max);
        Advice {
            fetch_bytes: turn,
            // What every fetch costs is worth as many bytes at least.
            piece_bytes: (cost / 4 + 1).max(through).next_power_of_two().clamp(self.fetch_bytes_min, turn),
            turn_bytes: Some(turn),
            through_bytes: through,
            pipe_bytes: turn.min(self.pipe_bytes_max),
            contended_bytes: turn.min(self.pipe_bytes_max),
            competitive_bytes: 0,
            wait_bytes: 0,
            patience_ns: None,
        }
    }

    /// The advice for a backend that serves many fetches at once.
    fn at_once(&self) -> Advice {
        let latency = self.latency_least.get().unwrap_or(LATENCY_NS_GUESS);
        let throughput = self.throughput.get().unwrap_or(0);
        let bandwidth = self.bandwidth.get().unwrap_or(0);
        // An eighth of what arrives in one latency, so that no single fetch is
        // long compared with the wait for its first byte.
        let fetch_bytes = (bytes_in(latency, throughput) / 8)
            .next_power_of_two()
            .clamp(self.fetch_bytes_min, self.fetch_bytes_max);
        // What the best throughput seen needs: Little's law with the time that a
        // fetch takes when the link is not full. On a full link every fetch looks
        // slow, because all share it; twice the latency bounds the mistake.
        let transfer = if bandwidth == 0 { 0 } else { time_of(fetch_bytes, bandwidth).min(2 * latency) };
        let needed = bytes_in(latency + transfer, throughput);
        // A quarter more to find out whether there is more to have, and two
        // fetches; at least enough to begin to find out.
        let one_fills_the_link = bandwidth >= throughput / 4 * 3;
        let is_crowded = one_fills_the_link && self.latency_ns > CROWDED_LATENCIES * latency;
        let least = if is_crowded { FETCHES_CROWDED_MIN } else { FETCHES_MIN };
        let pipe_bytes = (needed + needed / 4 + 2 * fetch_bytes).max(least * fetch_bytes);
        Advice {
            fetch_bytes,
            piece_bytes: fetch_bytes,
            turn_bytes: None,
            through_bytes: 0,
            pipe_bytes: pipe_bytes.min(self.pipe_bytes_max),
            // Nothing is learned of several fetches at once without them.
            contended_bytes: if self.switching.is_judged() && !self.may_be_disk() {
                needed
            } else {
                pipe_bytes
            }
            .min(pipe_bytes)
            .min(self.pipe_bytes_max),
            competitive_bytes: bytes_in(latency, bandwidth),
            wait_bytes: 0,
            patience_ns: None,
        }
    }
}

/// What one fetch tells of the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) object: ObjectId,
    pub(crate) offset: u64,
    /// How many fetches were dispatched before, and how many of those were in
    /// flight still.
    pub(crate) index: u64,
    pub(crate) ahead: usize,
    pub(crate) dispatched: Time,
    /// Bytes all fetches had delivered by then.
    pub(crate) delivered_before: u64,
    /// When its first bytes came, and how many those were.
    pub(crate) first_arrived: Time,
    pub(crate) first_bytes: u64,
    pub(crate) bytes: u64,
}

/// A fetch holds whole blocks: half a block would be served as a whole one.
fn whole_blocks(bytes: u64) -> u64 {
    (bytes / BLOCK_BYTES).max(1) * BLOCK_BYTES
}

/// Bytes per second.
pub(crate) fn rate(bytes: u64, ns: u64) -> u64 {
    scaled(bytes, 1_000_000_000, ns.max(1))
}

/// Nanoseconds that `bytes` take at `rate` bytes per second.
pub(crate) fn time_of(bytes: u64, rate: u64) -> u64 {
    scaled(bytes, 1_000_000_000, rate.max(1))
}

/// Bytes that arrive in `ns` at `rate` bytes per second.
pub(crate) fn bytes_in(ns: u64, rate: u64) -> u64 {
    scaled(ns, rate, 1_000_000_000)
}

/// `amount * by / of`, or the largest number.
fn scaled(amount: u64, by: u64, of: u64) -> u64 {
    match amount.checked_mul(by) {
        // Nearly always, and ten times as fast.
        Some(product) => product / of,
        None => (u128::from(amount) * u128::from(by) / u128::from(of)).min(u128::from(u64::MAX)) as u64,
    }
}
