//! A time that no schedule can beat.
//!
//! Each of the terms is a lower bound by itself, so the largest of them is one.
//!
//! * **No waits.** No client is faster than if every answer came at once.
//! * **Every block once.** The memory is empty at the beginning. So the device delivers every block that is
//!   read at least once, no faster than its best rate. The latency of the first request is not added, since
//!   a volume that is sold by bytes per second counts bytes in flight. Writes take their share of the rate,
//!   except on a disk, which may write later than it says. A disk may also have kept written blocks, so
//!   blocks that are ever written do not count there.
//! * **One sweep of a disk.** Its head must get from each extent to another. Seeks between all of them are
//!   a spanning path. Joining neighbours is the cheapest spanning tree for any cost that grows with
//!   distance. Each gap costs at least the time to pass over it, or the cheapest seek.
//! * **Every object has a request.** A request is for bytes of one object, or of several without a byte
//!   between them, which a layer below could join. It occupies one of the slots for a latency and its bytes
//!   at a request's best rate. Requests start some time apart.
//!
//! Two more apply where each step waits for the one before it, so that every schedule has the same order:
//!
//! * **Then the rest.** When a read completes, all earlier reads have arrived. The steps after it take at
//!   least their think times.
//! * **Windows.** Between the ends of two reads, all bytes that are read and were not in memory must be
//!   requested and arrive. At most all of the memory held such bytes, data in flight included. Windows do
//!   not overlap, so their times add up. Each takes the larger of its device time and its think times.
//!
//! Window sizes are doubled from twice the memory, and the best one counts. Twice the memory has a subset
//! of these sizes, and less to move in each: it never has a larger bound. A disk's own buffer is memory
//! too, of unknown size here, so this term is not for disks.

use super::footprint::BLOCK_BYTES;
use super::future::{Future, Reference};
use crate::device::Costs;

/// A time in nanoseconds that no schedule can beat with `memory_bytes` of memory,
/// data in flight included, on a device that costs at least `costs`.
pub fn lower(future: &Future, memory_bytes: u64, costs: &Costs) -> u64 {
    let terms = Terms::new(future, memory_bytes, costs);
    let mut bound = future.end_ns.max(terms.whole_ns());
    if future.is_serial {
        bound = bound.max(terms.then_rest_ns());
        if !costs.is_disk {
            bound = bound.max(terms.windows_ns());
        }
    }
    bound
}

struct Terms<'a> {
    future: &'a Future,
    memory_bytes: u64,
    costs: &'a Costs,
    /// Blocks that must come from the device when they are first read.
    counted: Vec<bool>,
    read_bytes: u64,
}

impl Terms<'_> {
    fn new<'a>(future: &'a Future, memory_bytes: u64, costs: &'a Costs) -> Terms<'a> {
        let mut counted = vec![false; future.footprint.block_count() as usize];
        let mut mark = |reference: &Reference, is: bool| {
            reference.blocks().for_each(|block| counted[block as usize] = is);
        };
        future.references.iter().filter(|one| !one.is_write()).for_each(|one| mark(one, true));
        if costs.is_disk {
            future.references.iter().filter(|one| one.is_write()).for_each(|one| mark(one, false));
        }
        let read = (0..future.footprint.block_count()).filter(|block| counted[*block as usize]);
        let read_bytes = read.map(|block| bytes_of(future, block)).sum();
        Terms { future, memory_bytes: memory_bytes.max(BLOCK_BYTES), costs, counted, read_bytes }
    }

    fn transfer_ns(&self, bytes: u64) -> u64 {
        ns_at(bytes, self.costs.bytes_per_s_max)
    }

    /// Moving these bytes, none of which were under way at the beginning.
    fn device_ns(&self, read_bytes: u64, write_bytes: u64) -> u64 {
        let latency = if read_bytes > 0 { self.costs.latency_ns_min } else { 0 };
        let write_bytes = if self.costs.is_disk { 0 } else { write_bytes };
        latency.max(self.transfer_ns(read_bytes + write_bytes))
    }

    /// Every block once.
    fn whole_ns(&self) -> u64 {
        let once = self.device_ns(self.read_bytes, self.future.write_bytes);
        if self.costs.is_disk { once + self.sweep_ns() } else { once.max(self.requests_ns()) }
    }

    /// Blocks that count, in the order of their addresses.
    fn blocks(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.future.footprint.block_count()).filter(|block| self.counted[*block as usize])
    }

    fn sweep_ns(&self) -> u64 {
        let mut end: Option<u64> = None;
        let mut sweep = 0;
        for block in self.blocks() {
            let addresses = self.future.footprint.addresses(block);
            let gap = addresses.start.saturating_sub(end.unwrap_or(addresses.start));
            sweep += self.transfer_ns(gap).min(self.costs.positioning_ns_min);
            end = end.max(Some(addresses.end));
        }
        sweep
    }

    fn requests_ns(&self) -> u64 {
        let footprint = &self.future.footprint;
        let (mut last, mut count) = (None, 0_u64);
        for block in self.blocks() {
            let rank = footprint.rank(block);
            let joined = last.is_some_and(|last| last == rank || footprint.touch(last, rank));
            count += u64::from(!joined);
            last = Some(rank);
        }
        if count == 0 {
            return 0;
        }
        let busy =
            count * self.costs.latency_ns_min + ns_at(self.read_bytes, self.costs.request_bytes_per_s_max);
        let started = (count - 1) * self.costs.request_interval_ns + self.costs.latency_ns_min;
        started.max(busy / self.costs.slot_count.max(1) as u64)
    }

    fn then_rest_ns(&self) -> u64 {
        let mut seen = vec![false; self.counted.len()];
        let (mut read_bytes, mut bound) = (0, 0);
        for (reference, time) in self.reads() {
            for block in reference.blocks() {
                let first = !std::mem::replace(&mut seen[block as usize], true);
                if first && self.counted[block as usize] {
                    read_bytes += bytes_of(self.future, block);
                }
            }
            bound = bound.max(self.device_ns(read_bytes, 0) + (self.future.end_ns - time));
        }
        bound
    }

    fn windows_ns(&self) -> u64 {
        let (mut bound, mut window_bytes) = (0, self.memory_bytes.saturating_mul(2));
        while window_bytes < self.read_bytes {
            bound = bound.max(self.windows_of(window_bytes));
            window_bytes = window_bytes.saturating_mul(2);
        }
        bound
    }

    /// The sum over windows that read at least `window_bytes` different bytes each.
    fn windows_of(&self, window_bytes: u64) -> u64 {
        let mut seen = vec![0_u32; self.counted.len()];
        let (mut window, mut read_bytes, mut start_ns, mut sum) = (1, 0, 0, 0);
        for (reference, time) in self.reads() {
            for block in reference.blocks() {
                if std::mem::replace(&mut seen[block as usize], window) != window {
                    read_bytes += bytes_of(self.future, block);
                }
            }
            if read_bytes >= window_bytes {
                sum += self.window_ns(window, read_bytes).max(time - start_ns);
                (read_bytes, start_ns) = (0, time);
                window += 1;
            }
        }
        sum + self.window_ns(window, read_bytes).max(self.future.end_ns - start_ns)
    }

    /// The device time of a window, counted from 1.
    fn window_ns(&self, window: u32, read_bytes: u64) -> u64 {
        match window {
            1 => self.device_ns(read_bytes, 0),
            _ => self.transfer_ns(read_bytes.saturating_sub(self.memory_bytes)),
        }
    }

    /// Every read and when it is made if nobody waits.
    fn reads(&self) -> impl Iterator<Item = (Reference, u64)> + '_ {
        let all = self.future.references.iter().copied().zip(self.future.times_ns.iter().copied());
        all.filter(|(reference, _)| !reference.is_write())
    }
}

fn bytes_of(future: &Future, block: u32) -> u64 {
    let addresses = future.footprint.addresses(block);
    addresses.end - addresses.start
}

fn ns_at(bytes: u64, bytes_per_s: u64) -> u64 {
    (u128::from(bytes) * 1_000_000_000 / u128::from(bytes_per_s.max(1))) as u64
}
