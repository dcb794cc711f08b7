//! Lists of paths that programs send to a mount by ioctls on an open directory. An ioctl carries
//! less than 16 KiB, so a list comes in pieces.

use std::collections::HashMap;

use forerun::{Forerun, Part};
use parking_lot::Mutex;
use rustix::io::Errno;

use super::errno::report;
use super::tree::Tree;
use crate::served::child_path;

/// `_IOW('F', 0xAE, char[N])` with any N, without its N: whole lines of a list, padded with zeros.
const ADD: u32 = 1 << 30 | (b'F' as u32) << 8 | 0xAE;
/// The bits of N.
const ADD_LEN: u32 = 0x3FFF << 16;
/// `_IO('F', 0xAF)`: the list is complete.
const START: u32 = (b'F' as u32) << 8 | 0xAF;
/// Limit of the memory of all incomplete lists together, in bytes.
const HELD_BYTES_MAX: usize = 64 << 20;

/// The outcome of an ioctl on a directory.
#[derive(Debug)]
pub(crate) enum Told {
    /// A piece was added.
    Added,
    /// The list is complete: its parts are to be read ahead.
    Complete(Vec<Part>),
}

/// Lists that are not complete yet.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    /// By the handle of the open directory: parts, and the bytes they take.
    lists: HashMap<u64, (Vec<Part>, usize)>,
    bytes: usize,
}

impl Lists {
    /// Handles an ioctl on the open directory `handle`. Paths are relative to `directory`.
    pub(crate) fn tell(
        &self,
        handle: u64,
        directory: &str,
        command: u32,
        words: &[u8],
    ) -> Result<Told, Errno> {
        if command == START {
            return Ok(Told::Complete(self.held.lock().take(handle)));
        }
        if command & !ADD_LEN != ADD {
            return Err(Errno::NOTTY);
        }
        let text = words.split(|byte| *byte == 0).next().unwrap_or_default();
        self.held.lock().add(handle, parse(text, directory)?)?;
        Ok(Told::Added)
    }

    /// Drops the list of the directory `handle`, which was closed.
    pub(crate) fn forget(&self, handle: u64) {
        self.held.lock().take(handle);
    }
}

impl Held {
    fn add(&mut self, handle: u64, parts: Vec<Part>) -> Result<(), Errno> {
        let bytes: usize = parts.iter().map(|part| size_of::<Part>() + part.path.len()).sum();
        if self.bytes + bytes > HELD_BYTES_MAX {
            return Err(Errno::NOSPC);
        }
        let (list, held) = self.lists.entry(handle).or_default();
        if list.len() + parts.len() > Forerun::LIST_PARTS_MAX {
            return Err(Errno::TOOBIG);
        }
        list.extend(parts);
        *held += bytes;
        self.bytes += bytes;
        Ok(())
    }

    fn take(&mut self, handle: u64) -> Vec<Part> {
        let (parts, bytes) = self.lists.remove(&handle).unwrap_or_default();
        self.bytes -= bytes;
        parts
    }
}

impl Tree {
    /// Reads `parts` ahead. Returns how many were left out.
    pub(crate) async fn prefetch(&self, parts: &[Part]) -> Result<i32, Errno> {
        // The kernel itself reads files that are passed through.
        if self.passthrough.as_ref().is_some_and(|passthrough| passthrough.is_on()) {
            return Err(Errno::OPNOTSUPP);
        }
        let left_out = self.forerun.prefetch(parts).await.map_err(|error| report(&error))?;
        Ok(i32::try_from(left_out).unwrap_or(i32::MAX))
    }
}

fn parse(text: &[u8], directory: &str) -> Result<Vec<Part>, Errno> {
    let text = str::from_utf8(text).map_err(|_| Errno::INVAL)?;
    let part = |line: &str| {
        let part: Part = line.parse().map_err(|_| Errno::INVAL)?;
        Ok(Part::new(child_path(directory, &part.path), part.offset, part.len))
    };
    text.lines().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIRECTORY: u64 = 7;

    fn add(lists: &Lists, handle: u64, text: &[u8]) -> Result<Told, Errno> {
        lists.tell(handle, "d", ADD | (text.len() as u32) << 16, text)
    }

    fn start(lists: &Lists, handle: u64) -> Vec<Part> {
        match lists.tell(handle, "d", START, &[]) {
            Ok(Told::Complete(parts)) => parts,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_list_is_told_in_pieces_and_each_directory_has_its_own() {
        let lists = Lists::default();
        add(&lists, DIRECTORY, b"a b\n\0\0").unwrap();
        add(&lists, 8, b"x\n").unwrap();
        add(&lists, DIRECTORY, b"c\t4096\t1").unwrap();
        let parts = [Part::whole("d/a b"), Part::new("d/c", 4096, Some(1))];
        assert_eq!(start(&lists, DIRECTORY), parts);
        assert_eq!(start(&lists, DIRECTORY), []);
        lists.forget(8);
        assert_eq!(lists.held.lock().bytes, 0);
    }

    #[test]
    fn a_malformed_piece_is_refused_and_changes_nothing() {
        let lists = Lists::default();
        for wrong in ["a\tb", "a\n\nb", "a\t0\t0"] {
            assert_eq!(add(&lists, DIRECTORY, wrong.as_bytes()).unwrap_err(), Errno::INVAL);
        }
        assert_eq!(add(&lists, DIRECTORY, b"\xff").unwrap_err(), Errno::INVAL);
        assert!(lists.tell(DIRECTORY, "", START + 1, &[]).is_err());
        assert_eq!(start(&lists, DIRECTORY), []);
    }

    #[test]
    fn incomplete_lists_have_a_memory_bound() {
        let lists = Lists::default();
        let many = "a\n".repeat(8000);
        let told = (0..9).map(|_| add(&lists, DIRECTORY, many.as_bytes()).map(|_| ())).collect::<Vec<_>>();
        assert_eq!(told.iter().filter(|told| told.is_ok()).count(), Forerun::LIST_PARTS_MAX / 8000);
        assert_eq!(told.last().unwrap().unwrap_err(), Errno::TOOBIG);
        let long = format!("{}\n", "x".repeat(16_000));
        let refused = (0..).find_map(|handle| add(&lists, handle, long.as_bytes()).err());
        assert_eq!(refused, Some(Errno::NOSPC));
        assert!(lists.held.lock().bytes <= HELD_BYTES_MAX);
    }
}
