//! The blocks that are ever touched, numbered in the order of their addresses.

use std::ops::Range;

use crate::source::{Extent, ObjectId, Placed};

/// Bytes of a block: what the cache holds is counted in blocks.
pub(super) const BLOCK_BYTES: u64 = forerun_engine::BLOCK_BYTES;

/// Blocks of one object that follow one another.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// The object's place in the order of addresses.
    rank: u32,
    /// The first block's index in the object.
    block: u64,
    /// The first block's number.
    number: u32,
    /// Its first byte on the device.
    address: u64,
    /// Bytes of all its blocks; the object's last one may be short.
    len: u64,
}

/// Blocks of an object before they have numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BlockRun {
    pub(super) rank: u32,
    pub(super) block: u64,
    pub(super) count: u32,
}

/// Where the objects lie.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    placed: Vec<Placed>,
    /// Each object's place in the order of addresses.
    ranks: Vec<u32>,
}

impl Layout {
    pub(super) fn new(placed: &[Placed]) -> Layout {
        let mut order: Vec<u32> = (0..placed.len() as u32).collect();
        order.sort_by_key(|object| (placed[*object as usize].address, *object));
        let mut ranks = vec![0; placed.len()];
        order.iter().enumerate().for_each(|(rank, object)| ranks[*object as usize] = rank as u32);
        Layout { placed: order.iter().map(|object| placed[*object as usize]).collect(), ranks }
    }

    /// The blocks of `extent`, as far as the object goes. `None` if there are none.
    pub(super) fn run(&self, object: ObjectId, extent: Extent) -> Option<BlockRun> {
        let rank = *self.ranks.get(object.0 as usize)?;
        let end = extent.end().min(self.placed[rank as usize].size);
        let block = extent.offset / BLOCK_BYTES;
        let count = end.div_ceil(BLOCK_BYTES).saturating_sub(block);
        (extent.offset < end).then_some(BlockRun { rank, block, count: count as u32 })
    }

    /// The device address of `extent`.
    pub(super) fn address(&self, object: ObjectId, extent: Extent) -> u64 {
        let rank = self.ranks.get(object.0 as usize).copied().unwrap_or(0);
        self.placed[rank as usize].address + extent.offset
    }
}

/// See the module's page.
#[derive(Clone, Debug)]
pub(super) struct Footprint {
    pub(super) layout: Layout,
    spans: Vec<Span>,
    block_count: u32,
}

impl Footprint {
    /// The union of `runs`.
    pub(super) fn new(layout: Layout, mut runs: Vec<BlockRun>) -> Footprint {
        runs.sort_unstable();
        let mut footprint = Footprint { layout, spans: Vec::new(), block_count: 0 };
        let mut merged: Option<BlockRun> = None;
        for run in runs {
            match &mut merged {
                Some(last) if last.rank == run.rank && run.block <= last.block + u64::from(last.count) => {
                    let end = (run.block + u64::from(run.count)).max(last.block + u64::from(last.count));
                    last.count = (end - last.block) as u32;
                }
                _ => {
                    footprint.add(merged.replace(run));
                }
            }
        }
        footprint.add(merged);
        footprint
    }

    fn add(&mut self, run: Option<BlockRun>) {
        let Some(run) = run else { return };
        let placed = self.layout.placed[run.rank as usize];
        let offset = run.block * BLOCK_BYTES;
        self.spans.push(Span {
            rank: run.rank,
            block: run.block,
            number: self.block_count,
            address: placed.address + offset,
            len: (u64::from(run.count) * BLOCK_BYTES).min(placed.size - offset),
        });
        self.block_count += run.count;
    }

    pub(super) fn block_count(&self) -> u32 {
        self.block_count
    }

    /// The numbers of the blocks of `run`, if all of them were ever touched.
    pub(super) fn numbers(&self, run: BlockRun) -> Option<Range<u32>> {
        let after = self.spans.partition_point(|span| (span.rank, span.block) <= (run.rank, run.block));
        let span = self.spans[..after].last().filter(|span| span.rank == run.rank)?;
        let first = u64::from(span.number) + (run.block - span.block);
        let end = first + u64::from(run.count);
        (end <= u64::from(span.number) + span.len.div_ceil(BLOCK_BYTES)).then_some(first as u32..end as u32)
    }

    fn span(&self, number: u32) -> &Span {
        &self.spans[self.spans.partition_point(|span| span.number <= number) - 1]
    }

    /// The device addresses of a block: its first byte and one past its last.
    pub(super) fn addresses(&self, number: u32) -> Range<u64> {
        let span = self.span(number);
        let offset = u64::from(number - span.number) * BLOCK_BYTES;
        span.address + offset..span.address + (offset + BLOCK_BYTES).min(span.len)
    }

    /// The place of a block's object in the order of addresses.
    pub(super) fn rank(&self, number: u32) -> u32 {
        self.span(number).rank
    }

    /// Whether `rank`'s last byte is followed directly by the object `next` on the device.
    pub(super) fn touch(&self, rank: u32, next: u32) -> bool {
        let (placed, next) = (self.layout.placed[rank as usize], self.layout.placed[next as usize]);
        next.address <= placed.address + placed.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_numbered_by_address_and_the_last_is_short() {
        let layout =
            Layout::new(&[Placed { address: 1 << 20, size: 10_000 }, Placed { address: 0, size: 1 << 20 }]);
        let run = |object, offset, len| layout.run(ObjectId(object), Extent::new(offset, len));
        let runs = [run(0, 0, 1 << 30), run(1, 8192, 1), run(1, 12_000, 300)];
        let footprint = Footprint::new(layout.clone(), runs.into_iter().flatten().collect());
        assert_eq!(footprint.block_count(), 5);
        assert_eq!(footprint.numbers(run(1, 8192, 8193).unwrap()), None);
        assert_eq!(footprint.numbers(run(1, 8192, 4097).unwrap()), Some(0..2));
        assert_eq!(footprint.numbers(run(0, 5000, 5000).unwrap()), Some(3..5));
        assert_eq!(footprint.addresses(4), (1 << 20) + 8192..(1 << 20) + 10_000);
        assert!(footprint.touch(0, 1) && run(0, 10_000, 1).is_none());
    }
}
