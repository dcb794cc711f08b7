//! Requests cut into pieces for stations that work side by side, and a link behind them.
//!
//! The stations are an SSD's channels, a cluster's servers, or one array. Each serves
//! its pieces one after the other; what they deliver takes turns on the link.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::latency::{Draw, Latency};
use super::luck::{Luck, Numbers, scramble};
use super::tally::{Tally, transfer_ns};
use super::{Device, DeviceStats, Direction, Notice, Request, RequestId, Time};

/// The bytes that a piece sends before another one that waits has its turn on the link.
const TURN_BYTES: u64 = 64 << 10;

/// Which station has which piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// In turn.
    Striped,
    /// Anywhere, the same for every seed.
    Hashed,
}

/// The parameters of stations and their link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StationsSpec {
    /// Pieces end at multiples of this, not 0.
    pub unit_bytes: u64,
    /// How many stations, not 0.
    pub station_count: usize,
    /// Which has which piece.
    pub placement: Placement,
    /// The time of every request that keeps no station busy.
    pub delay: Latency,
    /// The time of every piece on its station besides its bytes.
    pub hold: Latency,
    /// The same for writes, which take no luck.
    pub write_hold_ns: u64,
    /// The rate of a station, in bytes per second, not 0.
    pub station_bytes_per_s: u64,
    /// The rate of the link, in bytes per second, not 0.
    pub link_bytes_per_s: u64,
    /// How many requests are worth handing over at once.
    pub slot_count: usize,
}

/// A device of stations.
#[derive(Clone, Debug)]
pub struct Stations {
    spec: StationsSpec,
    delay: Draw,
    hold: Draw,
    station_free: Vec<Time>,
    link_free: Time,
    /// Requests and their pieces that have not arrived; places are used again.
    requests: Vec<(RequestId, u32)>,
    free: Vec<u32>,
    events: BinaryHeap<Reverse<Event>>,
    numbers: Numbers,
    event_count: u64,
    tally: Tally,
}

/// A piece has bytes left for the link, or has arrived with none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    time: Time,
    order: u64,
    place: u32,
    link_bytes: u64,
}

impl Stations {
    /// Stations as `spec` says, with the luck of `seed`.
    pub fn new(spec: StationsSpec, seed: u64) -> Stations {
        Stations {
            delay: Draw::new(spec.delay, Luck::new(seed)),
            hold: Draw::new(spec.hold, Luck::new(scramble(seed))),
            station_free: vec![Time(0); spec.station_count],
            link_free: Time(0),
            requests: Vec::new(),
            free: Vec::new(),
            events: BinaryHeap::new(),
            numbers: Numbers::default(),
            event_count: 0,
            tally: Tally::default(),
            spec,
        }
    }

    fn station_of(&self, unit: u64) -> usize {
        let place = match self.spec.placement {
            Placement::Striped => unit,
            Placement::Hashed => scramble(unit),
        };
        (place % self.spec.station_count as u64) as usize
    }

    fn push(&mut self, time: Time, place: u32, link_bytes: u64) {
        self.events.push(Reverse(Event { time, order: self.event_count, place, link_bytes }));
        self.event_count += 1;
    }
}

impl Device for Stations {
    fn submit(&mut self, now: Time, request: Request) {
        let number = self.numbers.next(request.direction);
        self.tally.begin(now, request.direction, request.len);
        let place = self.free.pop().unwrap_or_else(|| {
            self.requests.push((request.id, 0));
            self.requests.len() as u32 - 1
        });
        let ready = Time(now.0 + self.delay.of(number));
        let hold_ns = match request.direction {
            Direction::Read => self.hold.of(number),
            Direction::Write => self.spec.write_hold_ns,
        };
        let (mut address, mut pieces) = (request.address, 0);
        while address < request.end() {
            let unit = address / self.spec.unit_bytes;
            let end = ((unit + 1) * self.spec.unit_bytes).min(request.end());
            let station = self.station_of(unit);
            let busy_ns = hold_ns + transfer_ns(end - address, self.spec.station_bytes_per_s);
            let served = Time(self.station_free[station].max(ready).0 + busy_ns);
            self.station_free[station] = served;
            self.push(served, place, end - address);
            address = end;
            pieces += 1;
        }
        self.requests[place as usize] = (request.id, pieces);
    }

    fn next_time(&self) -> Option<Time> {
        self.events.peek().map(|Reverse(event)| event.time)
    }

    fn advance(&mut self, now: Time, notices: &mut Vec<Notice>) {
        while let Some(Reverse(event)) = self.events.peek().copied().filter(|next| next.0.time <= now) {
            self.events.pop();
            if event.link_bytes > 0 {
                let turn_bytes = event.link_bytes.min(TURN_BYTES);
                let turn_ns = transfer_ns(turn_bytes, self.spec.link_bytes_per_s);
                self.link_free = Time(self.link_free.max(event.time).0 + turn_ns);
                self.push(self.link_free, event.place, event.link_bytes - turn_bytes);
                continue;
            }
            let (id, pieces) = &mut self.requests[event.place as usize];
            *pieces -= 1;
            if *pieces == 0 {
                notices.push(Notice::Done { id: *id });
                self.free.push(event.place);
                self.tally.end(event.time);
            }
        }
    }

    fn slot_count(&self) -> usize {
        self.spec.slot_count
    }

    fn stats(&self) -> DeviceStats {
        self.tally.stats()
    }
}
