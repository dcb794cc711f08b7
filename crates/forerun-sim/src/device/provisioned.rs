//! A volume that is sold by operations and bytes per second: Amazon's EBS.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::latency::{Draw, Latency};
use super::luck::{Luck, Numbers};
use super::tally::{Tally, transfer_ns};
use super::{Device, DeviceStats, Direction, Notice, Request, RequestId, Time};

/// The limits of a provisioned volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProvisionedSpec {
    /// The latency of an operation.
    pub latency: Latency,
    /// Operations in a second, not 0.
    pub operations_per_s: u64,
    /// How many may come at once after a rest.
    pub operations_burst: u64,
    /// Bytes in a second, not 0.
    pub bytes_per_s: u64,
    /// The most bytes of one operation, not 0. Larger requests count several times. Small ones that follow
    /// each other count as one until it is full.
    pub operation_bytes: u64,
    /// How many requests are worth handing over at once.
    pub slot_count: usize,
}

/// A provisioned volume.
#[derive(Clone, Debug)]
pub struct Provisioned {
    spec: ProvisionedSpec,
    draw: Draw,
    /// When the operations paid for are used up to; it may lie in the past by the burst.
    operations_until: u64,
    bytes_until: u64,
    /// Where the last request ended, its direction, and the bytes still free in its operation.
    last: Option<(u64, Direction, u64)>,
    completions: BinaryHeap<Reverse<(Time, u64, RequestId)>>,
    numbers: Numbers,
    tally: Tally,
}

impl Provisioned {
    /// A volume as `spec` says, with the luck of `seed`.
    pub fn new(spec: ProvisionedSpec, seed: u64) -> Provisioned {
        Provisioned {
            draw: Draw::new(spec.latency, Luck::new(seed)),
            operations_until: 0,
            bytes_until: 0,
            last: None,
            completions: BinaryHeap::new(),
            numbers: Numbers::default(),
            tally: Tally::default(),
            spec,
        }
    }

    /// How many operations `request` counts as.
    fn operations(&mut self, request: &Request) -> u64 {
        let follows = |last: &(u64, Direction, u64)| last.0 == request.address && last.1 == request.direction;
        let room = self.last.filter(follows).map_or(0, |last| last.2);
        let more = request.len.saturating_sub(room).div_ceil(self.spec.operation_bytes);
        let room = room + more * self.spec.operation_bytes - request.len;
        self.last = Some((request.end(), request.direction, room));
        more
    }
}

impl Device for Provisioned {
    fn submit(&mut self, now: Time, request: Request) {
        let operation_ns = 1_000_000_000_u64.div_ceil(self.spec.operations_per_s);
        let operations = self.operations(&request);
        let burst_ns = operation_ns * self.spec.operations_burst;
        let start = if operations > 0 {
            let from = self.operations_until.max(now.0.saturating_sub(burst_ns));
            self.operations_until = from + operations * operation_ns;
            now.0.max(self.operations_until.saturating_sub(burst_ns))
        } else {
            now.0
        };
        let start = start.max(self.bytes_until);
        let bytes_ns = transfer_ns(request.len, self.spec.bytes_per_s);
        self.bytes_until = self.bytes_until.max(now.0) + bytes_ns;
        let number = self.numbers.next(request.direction);
        let done = start + self.draw.of(number) + bytes_ns;
        self.tally.begin(now, request.direction, request.len);
        self.completions.push(Reverse((Time(done), number, request.id)));
    }

    fn next_time(&self) -> Option<Time> {
        self.completions.peek().map(|Reverse((time, ..))| *time)
    }

    fn advance(&mut self, now: Time, notices: &mut Vec<Notice>) {
        while let Some(Reverse((time, _, id))) =
            self.completions.peek().copied().filter(|next| next.0.0 <= now)
        {
            self.completions.pop();
            self.tally.end(time);
            notices.push(Notice::Done { id });
        }
    }

    fn slot_count(&self) -> usize {
        self.spec.slot_count
    }

    fn stats(&self) -> DeviceStats {
        self.tally.stats()
    }
}
