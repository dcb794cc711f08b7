//! A store behind a network: latency, a rate for each connection, a rate for all of them.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::latency::{Draw, Latency};
use super::luck::{Luck, Numbers};
use super::tally::{Tally, transfer_ns};
use super::{Device, DeviceStats, Direction, Notice, Request, RequestId, Time};

/// Bytes that take their turn on the link together.
pub const PACKET_BYTES: u64 = 64 << 10;

/// The parameters of a network store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkSpec {
    /// From a request's start to its first byte.
    pub latency: Latency,
    /// The rate of one connection, in bytes per second, not 0.
    pub connection_bytes_per_s: u64,
    /// The rate of all connections together, in bytes per second, not 0.
    pub total_bytes_per_s: u64,
    /// The least time between the starts of two requests, in nanoseconds: throttling.
    pub request_interval_ns: u64,
    /// How many requests are served at once, not 0; the others wait in order.
    pub connection_count: usize,
}

/// A network store. Both directions share its link.
///
/// A connection has at most one packet in flight. It starts the next one when that one has arrived, which
/// is never before its own rate allows. So busy connections take turns on the link. A packet whose request
/// is cancelled still takes its turn.
#[derive(Clone, Debug)]
pub struct Network {
    spec: NetworkSpec,
    draw: Draw,
    /// Each connection's transfer, if it has one.
    connections: Vec<Option<Transfer>>,
    free: Vec<u32>,
    waiting: VecDeque<(Request, u64)>,
    /// When something happens on which connection. Those of transfers that are
    /// gone are passed over.
    events: BinaryHeap<Reverse<(Time, u64, u32)>>,
    numbers: Numbers,
    start_time_min: Time,
    link_free: Time,
    /// The times of a full packet on a connection and on the link.
    packet_ns: (u64, u64),
    tally: Tally,
}

#[derive(Clone, Copy, Debug)]
struct Transfer {
    id: RequestId,
    index: u64,
    direction: Direction,
    len: u64,
    arrived_bytes: u64,
    /// The packet on its way; 0 while waiting for the first.
    packet_bytes: u64,
}

impl Network {
    /// A store that does what `spec` says, with the luck of `seed`.
    pub fn new(spec: NetworkSpec, seed: u64) -> Network {
        let packet_ns = (
            transfer_ns(PACKET_BYTES, spec.connection_bytes_per_s),
            transfer_ns(PACKET_BYTES, spec.total_bytes_per_s),
        );
        Network {
            spec,
            draw: Draw::new(spec.latency, Luck::new(seed)),
            connections: Vec::new(),
            free: Vec::new(),
            waiting: VecDeque::new(),
            events: BinaryHeap::new(),
            numbers: Numbers::default(),
            start_time_min: Time(0),
            link_free: Time(0),
            packet_ns,
            tally: Tally::default(),
        }
    }

    fn has_connection(&self) -> bool {
        !self.free.is_empty() || self.connections.len() < self.spec.connection_count
    }

    /// Gives connections to waiting requests, as far as there are any and throttling lets it.
    fn start(&mut self, now: Time) {
        while now >= self.start_time_min && self.has_connection() {
            let Some((request, index)) = self.waiting.pop_front() else { return };
            let connection = self.free.pop().unwrap_or_else(|| {
                self.connections.push(None);
                self.connections.len() as u32 - 1
            });
            self.connections[connection as usize] = Some(Transfer {
                id: request.id,
                index,
                direction: request.direction,
                len: request.len,
                arrived_bytes: 0,
                packet_bytes: 0,
            });
            self.tally.begin(now, request.direction, request.len);
            self.start_time_min = Time(now.0 + self.spec.request_interval_ns);
            self.events.push(Reverse((Time(now.0 + self.draw.of(index)), index, connection)));
        }
    }

    /// When the packet of `bytes` that is sent now has arrived.
    fn send(&mut self, now: Time, bytes: u64) -> Time {
        let (connection_ns, link_ns) = if bytes == PACKET_BYTES {
            self.packet_ns
        } else {
            (
                transfer_ns(bytes, self.spec.connection_bytes_per_s),
                transfer_ns(bytes, self.spec.total_bytes_per_s),
            )
        };
        self.link_free = Time(self.link_free.max(now).0 + link_ns);
        self.link_free.max(Time(now.0 + connection_ns))
    }

    /// A packet has arrived on `connection`, or its first one may be sent.
    fn step(&mut self, now: Time, index: u64, connection: u32, notices: &mut Vec<Notice>) {
        let slot = &mut self.connections[connection as usize];
        let Some(transfer) = slot.as_mut().filter(|transfer| transfer.index == index) else { return };
        let id = transfer.id;
        transfer.arrived_bytes += transfer.packet_bytes;
        if transfer.packet_bytes > 0 && transfer.direction == Direction::Read {
            notices.push(Notice::Progress { id, bytes: transfer.arrived_bytes });
        }
        transfer.packet_bytes = PACKET_BYTES.min(transfer.len - transfer.arrived_bytes);
        let packet_bytes = transfer.packet_bytes;
        if packet_bytes > 0 {
            let arrival = self.send(now, packet_bytes);
            self.events.push(Reverse((arrival, index, connection)));
            return;
        }
        *slot = None;
        self.free.push(connection);
        self.tally.end(now);
        notices.push(Notice::Done { id });
        self.start(now);
    }
}

impl Device for Network {
    fn submit(&mut self, now: Time, request: Request) {
        let number = self.numbers.next(request.direction);
        self.waiting.push_back((request, number));
        self.start(now);
    }

    fn cancel(&mut self, now: Time, id: RequestId) -> bool {
        if let Some(at) = self.waiting.iter().position(|(request, _)| request.id == id) {
            self.waiting.remove(at);
            return true;
        }
        let of_id = |slot: &Option<Transfer>| slot.is_some_and(|transfer| transfer.id == id);
        let Some(at) = self.connections.iter().position(of_id) else { return false };
        let Some(transfer) = self.connections[at].take() else { return false };
        self.free.push(at as u32);
        self.tally.spare(transfer.direction, transfer.len - transfer.arrived_bytes - transfer.packet_bytes);
        self.tally.end(now);
        self.start(now);
        true
    }

    fn next_time(&self) -> Option<Time> {
        let event = self.events.peek().map(|Reverse((time, ..))| *time);
        let throttled = (!self.waiting.is_empty() && self.has_connection()).then_some(self.start_time_min);
        event.into_iter().chain(throttled).min()
    }

    fn advance(&mut self, now: Time, notices: &mut Vec<Notice>) {
        while let Some(Reverse((time, index, connection))) = self.events.peek().copied() {
            if time > now {
                break;
            }
            self.events.pop();
            self.step(time, index, connection, notices);
        }
        self.start(now);
    }

    fn slot_count(&self) -> usize {
        self.spec.connection_count
    }

    fn stats(&self) -> DeviceStats {
        self.tally.stats()
    }
}
