//! Queries: the state of single blocks, and the unread and missing blocks of an extent.

use super::rows::{ROW_BLOCKS, ROW_BYTES, Row, RowId, mask};
use super::{Cache, lookup::count_of};
use crate::types::{BLOCK_BYTES, Extent, ObjectId};

impl Cache {
    /// The row of the block at `offset`, and the bit of that block.
    fn block_at(&self, object: ObjectId, offset: u64) -> Option<(&Row, u64)> {
        let block = offset / BLOCK_BYTES;
        let id = self.index.get(object, block / ROW_BLOCKS);
        id.map(|id| (&self.rows[id.0 as usize], 1 << (block % ROW_BLOCKS)))
    }

    /// Whether the block at `offset` is resident or in flight.
    pub(crate) fn is_held(&self, object: ObjectId, offset: u64) -> bool {
        self.block_at(object, offset).is_some_and(|(row, bit)| row.held() & bit != 0)
    }

    /// Whether the block at `offset` is resident and was not read since it was fetched.
    pub(crate) fn is_unread(&self, object: ObjectId, offset: u64) -> bool {
        self.block_at(object, offset).is_some_and(|(row, bit)| row.unread & row.resident & bit != 0)
    }

    /// Whether the block at `offset` was read, once, and is still here.
    pub(crate) fn is_read_once(&self, object: ObjectId, offset: u64) -> bool {
        self.block_at(object, offset)
            .is_some_and(|(row, bit)| bit & row.resident & !row.unread != 0 && !row.hot)
    }

    /// The number of blocks of `extent` that are neither resident nor in flight.
    pub(crate) fn missing(&self, object: ObjectId, extent: Extent) -> u64 {
        let held = |id: Option<RowId>| id.map_or(0, |id| self.rows[id.0 as usize].held());
        self.index.rows(object, extent).map(|(_, bits, id)| count_of(bits & !held(id))).sum()
    }

    /// Bytes of `extent`, in whole blocks, that are resident or in flight and that
    /// nobody has read since they were fetched.
    pub(crate) fn unread_bytes(&self, object: ObjectId, extent: Extent) -> u64 {
        let unread = |id: Option<RowId>| id.map_or(0, |id| self.rows[id.0 as usize].unread);
        let counts = self.index.rows(object, extent).map(|(_, bits, id)| count_of(bits & unread(id)));
        counts.sum::<u64>() * BLOCK_BYTES
    }

    /// The first run of blocks of `extent` that are neither resident nor in flight. It has at most `len_max`
    /// bytes, in whole blocks, since a fetch of half a block costs as much as a whole one.
    pub(crate) fn first_missing(&self, object: ObjectId, extent: Extent, len_max: u64) -> Option<Extent> {
        let mut found: Option<Extent> = None;
        for (index, bits, id) in self.index.rows(object, extent) {
            let mut missing = bits & !id.map_or(0, |id| self.rows[id.0 as usize].held());
            while missing != 0 {
                let start = missing.trailing_zeros();
                let count = (missing >> start).trailing_ones();
                missing &= !mask(start, count);
                let offset = index * ROW_BYTES + u64::from(start) * BLOCK_BYTES;
                let end = offset + u64::from(count) * BLOCK_BYTES;
                match &mut found {
                    None => found = Some(Extent::between(offset, end)),
                    Some(run) if run.end() == offset => run.len = end - run.offset,
                    Some(_) => return found.map(|run| clip(run, len_max)),
                }
            }
            if found.is_some_and(|run| run.len >= len_max || run.end() < (index + 1) * ROW_BYTES) {
                break;
            }
        }
        found.map(|run| clip(run, len_max))
    }
}

fn clip(run: Extent, len_max: u64) -> Extent {
    Extent::new(run.offset, run.len.min(len_max / BLOCK_BYTES * BLOCK_BYTES))
}

#[cfg(test)]
mod tests {
    use super::super::Reclaim;
    use super::*;

    #[test]
    fn missing_extents_are_whole_blocks() {
        let cache = Cache::new(64 << 20, Reclaim::Informed);
        let told = |len_max| {
            let missing = cache.first_missing(ObjectId(0), Extent::new(0, 64 << 10), len_max);
            missing.map(|run| run.len)
        };
        assert_eq!(told(u64::MAX), Some(64 << 10));
        assert_eq!(told(10_000), Some(8192));
    }
}
