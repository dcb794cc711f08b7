//! The map in the file: two slots for each page.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use forerun::{Error, ErrorKind, Result};

use super::super::changes::{ChangedFile, file_error};
use super::layout::{Layout, SLOT_BYTES, SLOT_HEAD_BYTES};
use super::marks::{Marks, Taken};
use super::states::States;

/// One slot.
#[derive(Debug, PartialEq, Eq)]
enum Slot {
    /// Nothing was ever written there.
    Empty,
    Written(u64, States),
    /// It was being written when the server was killed.
    Torn,
}

/// Reads the map of the file `path`.
///
/// # Errors
/// If no slot of a page is whole, which no crash does.
pub(super) fn load(file: &File, path: &Path, layout: &Layout) -> Result<Marks> {
    let mut marks = Marks::default();
    let mut slots = [0; 2 * SLOT_BYTES];
    for page in 0..layout.pages {
        file.read_exact_at(&mut slots, Layout::slots_offset(page))
            .map_err(|error| file_error(path, "the map of the overlay cannot be read", error))?;
        let [a, b] = [&slots[..SLOT_BYTES], &slots[SLOT_BYTES..]].map(|bytes| decode(page, bytes));
        match (a, b) {
            (Slot::Written(a, states), Slot::Written(b, _)) if a > b => marks.put(page, a, states),
            (_, Slot::Written(b, states)) => marks.put(page, b, states),
            (Slot::Written(a, states), _) => marks.put(page, a, states),
            // The first write of the page was torn, and nothing of it was flushed.
            (Slot::Empty, Slot::Empty | Slot::Torn) => {}
            (Slot::Torn, Slot::Empty | Slot::Torn) => {
                let message = format!(
                    "{}: page {page} of the overlay's map is damaged; take a copy of the file from before",
                    path.display()
                );
                return Err(Error::new(ErrorKind::Invalid, message));
            }
        }
    }
    Ok(marks)
}

/// Writes a page to the older one of its slots.
pub(super) fn write(file: &ChangedFile, taken: &Taken) -> std::io::Result<()> {
    let slot = taken.generation % 2 * SLOT_BYTES as u64;
    file.write_all_at(&encode(taken), Layout::slots_offset(taken.page) + slot)
}

fn encode(taken: &Taken) -> Vec<u8> {
    let mut slot = taken.generation.to_le_bytes().to_vec();
    let sum = sum(taken.page, taken.generation, &taken.states.0[..]);
    slot.extend_from_slice(&u64::from(sum).to_le_bytes());
    slot.extend_from_slice(&taken.states.0[..]);
    slot
}

fn decode(page: u64, slot: &[u8]) -> Slot {
    if slot.iter().all(|byte| *byte == 0) {
        return Slot::Empty;
    }
    let word = |at: usize| slot[at..at + 8].try_into().map_or(0, u64::from_le_bytes);
    let (generation, states) = (word(0), &slot[SLOT_HEAD_BYTES..]);
    if generation == 0 || word(8) != u64::from(sum(page, generation, states)) {
        return Slot::Torn;
    }
    match Box::<[u8]>::from(states).try_into().map(States) {
        Ok(states) if states.is_valid() => Slot::Written(generation, states),
        _ => Slot::Torn,
    }
}

/// The page is part of it, so a slot that was written to a wrong place is found out.
fn sum(page: u64, generation: u64, states: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&page.to_le_bytes());
    sum.update(&generation.to_le_bytes());
    sum.update(states);
    sum.finalize()
}

#[cfg(test)]
mod tests {
    use super::super::layout::PAGE_BLOCKS;
    use super::super::states::State;
    use super::*;

    fn file(layout: &Layout) -> ChangedFile {
        let file = ChangedFile::new(tempfile::tempfile().unwrap());
        file.set_len(layout.file_bytes()).unwrap();
        file
    }

    fn flush(file: &ChangedFile, marks: &mut Marks) {
        let taken = marks.take();
        taken.iter().for_each(|taken| write(file, taken).unwrap());
        marks.give_back(&taken, true);
    }

    /// Marks as `count` flushes leave them: each has marked one more block of both pages.
    fn flushed(file: &ChangedFile, count: u64) -> Marks {
        let mut marks = Marks::default();
        for block in 0..count {
            marks.set(block..block + 1, State::Data);
            marks.set(PAGE_BLOCKS + block..PAGE_BLOCKS + block + 1, State::Zero);
            flush(file, &mut marks);
        }
        marks
    }

    #[test]
    fn a_torn_write_leaves_the_marks_of_the_flush_before() {
        let layout = Layout::new(2 * PAGE_BLOCKS * 4096);
        let (path, all) = (Path::new("a"), 0..2 * PAGE_BLOCKS);
        for count in 1..6 {
            let file = file(&layout);
            let marks = flushed(&file, count);
            assert_eq!(load(&file, path, &layout).unwrap().runs(all.clone()), marks.runs(all.clone()));
            for page in 0..2 {
                let at = Layout::slots_offset(page) + count % 2 * SLOT_BYTES as u64;
                file.write_all_at(&[0xEE; 100], at + 2000).unwrap();
            }
            let before = flushed(&self::file(&layout), count - 1);
            assert_eq!(load(&file, path, &layout).unwrap().runs(all.clone()), before.runs(all.clone()));
        }
    }

    #[test]
    fn a_page_without_a_whole_slot_is_an_error() {
        let layout = Layout::new(4096);
        let file = file(&layout);
        let [first, second] = [SLOT_BYTES as u64, 0].map(|at| Layout::slots_offset(0) + at);
        file.write_all_at(&[1], first).unwrap();
        let marks = load(&file, Path::new("a"), &layout).unwrap();
        assert_eq!(marks.get(0), State::Base, "it was the first to be written");
        file.write_all_at(&[1], second).unwrap();
        let error = load(&file, Path::new("a"), &layout).unwrap_err();
        assert!(error.message.contains("damaged"), "{error}");
    }
}
