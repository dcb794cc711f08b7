//! The index: finds the row of an object's blocks.
//!
//! Sixteen neighbouring rows share a sheet, so that a lookup of many rows finds few sheets. A hash table
//! finds a single sheet, and a tree finds several in order.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::row::{NONE, RowId, rows_of};
use crate::scatter::{Key, Scattered, scattered};
use crate::types::{Extent, ObjectId};

/// Rows of one sheet: 4 MiB of an object.
const SHEET_ROWS: usize = 16;

/// Where a sheet is in the tree: object by object, each from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SheetKey(u128);

impl SheetKey {
    /// The key of no sheet.
    const NOWHERE: SheetKey = SheetKey(u128::MAX);

    /// Of the sheet that holds row `index` of `object`.
    fn of(object: ObjectId, index: u64) -> SheetKey {
        SheetKey(u128::from(object.0) << 64 | u128::from(index / SHEET_ROWS as u64))
    }

    fn object(self) -> ObjectId {
        ObjectId((self.0 >> 64) as u64)
    }

    fn first_index(self) -> u64 {
        self.0 as u64 * SHEET_ROWS as u64
    }
}

impl Key for SheetKey {
    fn number(self) -> u64 {
        scattered(self.object().0).wrapping_add(self.0 as u64)
    }
}

/// At least one of its rows is there, unless its key is [`SheetKey::NOWHERE`].
#[derive(Debug)]
struct Sheet {
    key: SheetKey,
    rows: [RowId; SHEET_ROWS],
}

impl Sheet {
    fn get(&self, index: u64) -> Option<RowId> {
        let id = self.rows[index as usize % SHEET_ROWS];
        (id.0 != NONE).then_some(id)
    }

    fn iter(&self) -> impl Iterator<Item = (u64, RowId)> {
        let rows = (self.key.first_index()..).zip(&self.rows);
        rows.filter(|(_, id)| id.0 != NONE).map(|(index, id)| (index, *id))
    }
}

/// See the module's page.
///
/// Invariants: `tree` and `numbers` have the sheets that are somewhere, `vacant` the others.
#[derive(Debug)]
pub(crate) struct Index {
    numbers: Scattered<SheetKey, u32>,
    /// The same in order.
    tree: BTreeMap<SheetKey, u32>,
    sheets: Vec<Sheet>,
    vacant: Vec<u32>,
}

impl Index {
    pub(crate) fn new() -> Index {
        Index { numbers: Scattered::default(), tree: BTreeMap::new(), sheets: Vec::new(), vacant: Vec::new() }
    }

    pub(crate) fn get(&self, object: ObjectId, index: u64) -> Option<RowId> {
        self.sheet(SheetKey::of(object, index))?.get(index)
    }

    /// The row, which is not there yet, is `id`.
    pub(crate) fn insert(&mut self, object: ObjectId, index: u64, id: RowId) {
        let key = SheetKey::of(object, index);
        let number = self.number(key).unwrap_or_else(|| self.add(key));
        self.sheets[number as usize].rows[index as usize % SHEET_ROWS] = id;
    }

    pub(crate) fn remove(&mut self, object: ObjectId, index: u64) {
        let key = SheetKey::of(object, index);
        let Some(number) = self.number(key) else { return };
        let sheet = &mut self.sheets[number as usize];
        sheet.rows[index as usize % SHEET_ROWS] = RowId(NONE);
        if sheet.rows == [RowId(NONE); SHEET_ROWS] {
            sheet.key = SheetKey::NOWHERE;
            self.numbers.remove(key);
            self.tree.remove(&key);
            self.vacant.push(number);
        }
    }

    /// The rows that `extent` touches, whether they are there or not: the number of each,
    /// the bits of its blocks, and where it is.
    pub(crate) fn rows(
        &self,
        object: ObjectId,
        extent: Extent,
    ) -> impl Iterator<Item = (u64, u64, Option<RowId>)> {
        let mut current: Option<(SheetKey, Option<&Sheet>)> = None;
        rows_of(extent).map(move |(index, bits)| {
            let key = SheetKey::of(object, index);
            let sheet = match current {
                Some((last, sheet)) if last == key => sheet,
                _ => self.sheet(key),
            };
            current = Some((key, sheet));
            (index, bits, sheet.and_then(|sheet| sheet.get(index)))
        })
    }

    /// The rows of `object` from number `first` to before `end` that are there, in order.
    pub(crate) fn between(
        &self,
        object: ObjectId,
        first: u64,
        end: u64,
    ) -> impl Iterator<Item = (u64, RowId)> {
        let keys = SheetKey::of(object, first)..=SheetKey::of(object, end.max(first + 1) - 1);
        let sheets = self.tree.range(keys).map(|(_, number)| &self.sheets[*number as usize]);
        sheets.flat_map(Sheet::iter).filter(move |(index, _)| (first..end).contains(index))
    }

    /// All rows of `object` that are there, in order.
    pub(crate) fn of(&self, object: ObjectId) -> impl Iterator<Item = RowId> {
        self.between(object, 0, u64::MAX).map(|(_, id)| id)
    }

    /// All rows.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ObjectId, u64, RowId)> {
        let sheets = self.tree.values().map(|number| &self.sheets[*number as usize]);
        sheets.flat_map(|sheet| sheet.iter().map(|(index, id)| (sheet.key.object(), index, id)))
    }

    fn sheet(&self, key: SheetKey) -> Option<&Sheet> {
        self.number(key).map(|number| &self.sheets[number as usize])
    }

    fn number(&self, key: SheetKey) -> Option<u32> {
        self.numbers.get(key).copied()
    }

    /// A new sheet at `key`; its number.
    fn add(&mut self, key: SheetKey) -> u32 {
        let sheet = Sheet { key, rows: [RowId(NONE); SHEET_ROWS] };
        let number = match self.vacant.pop() {
            Some(number) => {
                self.sheets[number as usize] = sheet;
                number
            }
            None => {
                self.sheets.push(sheet);
                self.sheets.len() as u32 - 1
            }
        };
        self.numbers.insert(key, number);
        self.tree.insert(key, number);
        number
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::cache::ROW_BYTES;

    #[test]
    fn rows_are_found_until_they_are_removed() {
        let mut index = Index::new();
        let places = [(1, 0), (1, 15), (1, 16), (1, 1000), (2, 3)];
        for (id, (object, at)) in (0..).zip(places) {
            index.insert(ObjectId(object), at, RowId(id));
        }
        assert_eq!(index.get(ObjectId(1), 15), Some(RowId(1)));
        assert_eq!(index.get(ObjectId(1), 14), None);
        assert_eq!(index.get(ObjectId(2), 15), None);
        let all: Vec<u32> = index.of(ObjectId(1)).map(|id| id.0).collect();
        assert_eq!(all, [0, 1, 2, 3]);
        let some: Vec<u64> = index.between(ObjectId(1), 15, 1000).map(|(at, _)| at).collect();
        assert_eq!(some, [15, 16]);
        assert_eq!(index.iter().last(), Some((ObjectId(2), 3, RowId(4))));
        places.iter().for_each(|(object, at)| index.remove(ObjectId(*object), *at));
        assert!(index.tree.is_empty() && index.iter().next().is_none());
    }

    #[test]
    fn an_extent_has_rows_whether_they_are_there_or_not() {
        let mut index = Index::new();
        index.insert(ObjectId(1), 16, RowId(7));
        let rows: Vec<_> = index.rows(ObjectId(1), Extent::new(15 * ROW_BYTES, 2 * ROW_BYTES + 1)).collect();
        assert_eq!(rows, [(15, u64::MAX, None), (16, u64::MAX, Some(RowId(7))), (17, 1, None)]);
    }
}
