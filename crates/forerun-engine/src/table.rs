//! Tables whose keys are never used twice.

use alloc::vec::Vec;

/// Values by key; a key names a cell and the generation that lives there, so
/// that a stale key finds nothing.
#[derive(Debug)]
pub(crate) struct Table<T> {
    cells: Vec<Cell<T>>,
    vacant: Vec<u32>,
}

#[derive(Debug)]
struct Cell<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> Table<T> {
    pub(crate) fn new() -> Table<T> {
        Table { cells: Vec::new(), vacant: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.cells.len() - self.vacant.len()
    }

    pub(crate) fn insert(&mut self, value: T) -> u64 {
        let index = self.vacant.pop().unwrap_or_else(|| {
            self.cells.push(Cell { generation: 0, value: None });
            self.cells.len() as u32 - 1
        });
        let cell = &mut self.cells[index as usize];
        cell.value = Some(value);
        u64::from(cell.generation) << 32 | u64::from(index)
    }

    pub(crate) fn get(&self, key: u64) -> Option<&T> {
        let cell = self.cells.get(key as u32 as usize)?;
        cell.value.as_ref().filter(|_| u64::from(cell.generation) == key >> 32)
    }

    pub(crate) fn get_mut(&mut self, key: u64) -> Option<&mut T> {
        let cell = self.cells.get_mut(key as u32 as usize)?;
        cell.value.as_mut().filter(|_| u64::from(cell.generation) == key >> 32)
    }

    pub(crate) fn remove(&mut self, key: u64) -> Option<T> {
        let cell = self.cells.get_mut(key as u32 as usize)?;
        if u64::from(cell.generation) != key >> 32 {
            return None;
        }
        let value = cell.value.take()?;
        cell.generation = cell.generation.wrapping_add(1);
        self.vacant.push(key as u32);
        Some(value)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (u64, &mut T)> {
        self.cells.iter_mut().enumerate().filter_map(|(index, cell)| {
            let key = u64::from(cell.generation) << 32 | index as u64;
            cell.value.as_mut().map(|value| (key, value))
        })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.cells.iter().enumerate().filter_map(|(index, cell)| {
            let key = u64::from(cell.generation) << 32 | index as u64;
            cell.value.as_ref().map(|value| (key, value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_key_finds_nothing() {
        let mut table = Table::new();
        let first = table.insert('a');
        assert_eq!(table.remove(first), Some('a'));
        let second = table.insert('b');
        assert_ne!(first, second);
        assert_eq!(table.remove(first), None);
        assert_eq!((table.get(first), table.get(second)), (None, Some(&'b')));
        assert_eq!(table.len(), 1);
    }
}
