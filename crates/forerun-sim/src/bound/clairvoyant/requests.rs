//! A batch of blocks as requests: joined, cut and put in order as suits the device.

use std::collections::VecDeque;

use super::super::footprint::{BLOCK_BYTES, Footprint};
use super::super::future::Reference;
use super::cache::Wish;
use crate::device::Costs;
use crate::source::Step;

/// A read of the device that is worth its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) address: u64,
    pub(super) end: u64,
    /// Those that are wanted, in the order of their addresses.
    pub(super) blocks: Vec<u32>,
    /// The first position at which one of them is needed.
    position: u32,
    rank: u32,
}

/// A request under way.
pub(super) enum Purpose {
    /// Blocks of a plan, and how many of them have come.
    Blocks(Plan, usize),
    /// A write, and the blocks that it overwrites, if they are ever read.
    Write(Step, Option<Reference>),
    /// A read that was not foreseen.
    Read(Step),
}

/// How requests are made for a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestShape {
    is_disk: bool,
    /// Between extents so close, a disk reads on.
    gap_bytes: u64,
    request_bytes_max: u64,
}

impl RequestShape {
    /// For batches of `batch_blocks`.
    ///
    /// A gap that a disk passes in a quarter of its usual latency is not worth a seek: neighbours are
    /// closer than the usual distance. A request has at most as many bytes (or 64 KiB), since it is
    /// complete only with its last byte. The next bytes then need no other seek. On other devices a batch
    /// is one request of a connection.
    pub(super) fn new(costs: &Costs, batch_blocks: u64) -> RequestShape {
        let ns = u128::from(costs.latency_ns_typical / 4);
        let passed = (ns * u128::from(costs.bytes_per_s_max) / 1_000_000_000) as u64;
        RequestShape {
            is_disk: costs.is_disk,
            gap_bytes: if costs.is_disk { passed } else { 0 },
            request_bytes_max: match costs.is_disk {
                true => passed.max(64 << 10),
                false => batch_blocks.saturating_mul(BLOCK_BYTES),
            },
        }
    }

    /// Requests for `batch`, in the order in which they are to be made by a device
    /// whose head is at `head`.
    pub(super) fn plan(&self, footprint: &Footprint, mut batch: Vec<Wish>, head: u64) -> VecDeque<Plan> {
        batch.sort_unstable();
        let mut plans: Vec<Plan> = Vec::new();
        for (block, position) in batch {
            let (addresses, rank) = (footprint.addresses(block), footprint.rank(block));
            match plans.last_mut().filter(|plan| self.joins(plan, addresses.start, addresses.end, rank)) {
                Some(plan) => {
                    plan.end = addresses.end;
                    plan.position = plan.position.min(position);
                    plan.blocks.push(block);
                }
                None => plans.push(Plan {
                    address: addresses.start,
                    end: addresses.end,
                    blocks: vec![block],
                    position,
                    rank,
                }),
            }
        }
        if self.is_disk {
            // Upwards from the head, then from the lowest.
            let ahead = plans.partition_point(|plan| plan.address < head);
            plans.rotate_left(ahead);
        } else {
            plans.sort_by_key(|plan| plan.position);
        }
        plans.into()
    }

    fn joins(&self, plan: &Plan, start: u64, end: u64, rank: u32) -> bool {
        let near = start >= plan.end && start - plan.end <= self.gap_bytes;
        near && (self.is_disk || rank == plan.rank) && end - plan.address <= self.request_bytes_max
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::footprint::{BlockRun, Layout};
    use super::*;
    use crate::source::Placed;

    const COSTS: Costs = Costs {
        positioning_ns_min: 1_000_000,
        latency_ns_min: 40_000,
        latency_ns_typical: 4_000_000,
        request_interval_ns: 0,
        request_bytes_per_s_max: 64_000_000,
        bytes_per_s_max: 64_000_000,
        slot_count: 1,
        is_disk: true,
    };

    fn addresses(costs: Costs, blocks: &[u32], head: u64) -> Vec<(u64, u64)> {
        let layout = Layout::new(&[Placed { address: 0, size: 1 << 20 }]);
        let footprint = Footprint::new(layout, vec![BlockRun { rank: 0, block: 0, count: 256 }]);
        let batch = blocks.iter().enumerate().map(|(at, block)| (*block, at as u32)).collect();
        let plans = RequestShape::new(&costs, 8).plan(&footprint, batch, head * BLOCK_BYTES);
        plans.iter().map(|plan| (plan.address / BLOCK_BYTES, plan.end / BLOCK_BYTES)).collect()
    }

    #[test]
    fn a_disk_sweeps_upwards_and_reads_through_gaps() {
        // 64 KB are passed in a millisecond.
        assert_eq!(addresses(COSTS, &[200, 0, 100, 102, 201], 50), [(100, 103), (200, 202), (0, 1)]);
    }

    #[test]
    fn a_network_takes_what_is_needed_first() {
        let network = Costs { is_disk: false, ..COSTS };
        let blocks: Vec<u32> = [200].into_iter().chain(90..102).collect();
        assert_eq!(addresses(network, &blocks, 50), [(200, 201), (90, 98), (98, 102)]);
    }
}
