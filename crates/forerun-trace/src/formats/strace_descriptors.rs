//! The descriptors of processes that strace recorded.

use std::collections::HashMap;

use super::strace_call::{descriptor, is_made_up, unescape};
use crate::{FileId, Files};

/// An open file as the kernel has it: duplicated descriptors share it.
pub(super) struct OpenFile {
    pub(super) file: FileId,
    pub(super) position: u64,
}

/// The descriptors of all processes.
#[derive(Default)]
pub(super) struct Descriptors {
    /// The index of each process's table of descriptors: threads share one.
    table_of: HashMap<u64, usize>,
    tables: Vec<HashMap<u64, usize>>,
    pub(super) files: Vec<OpenFile>,
}

impl Descriptors {
    /// Opens `file` as descriptor `number` of `process`. Returns its index in `files`.
    pub(super) fn open(&mut self, process: u64, number: u64, file: FileId) -> usize {
        self.files.push(OpenFile { file, position: 0 });
        let open = self.files.len() - 1;
        self.table(process).insert(number, open);
        open
    }

    /// Forgets the descriptors of `process`: another process may get its number.
    pub(super) fn end(&mut self, process: u64) {
        self.table_of.remove(&process);
    }

    /// The child shares its parent's descriptors, or begins with a copy of them. It may act before
    /// its parent's call returns: descriptors that it has opened by then stay.
    pub(super) fn clone_to(&mut self, process: u64, child: u64, text: &str) {
        if text.contains("CLONE_FILES") {
            self.table(process);
            self.table_of.insert(child, self.table_of[&process]);
            return;
        }
        let copy = self.table(process).clone();
        let own = self.table(child);
        copy.into_iter().for_each(|(number, open)| {
            own.entry(number).or_insert(open);
        });
    }

    /// The descriptors of `process`, as indices of `files`.
    pub(super) fn table(&mut self, process: u64) -> &mut HashMap<u64, usize> {
        let next = self.tables.len();
        let table = *self.table_of.entry(process).or_insert(next);
        if table == next {
            self.tables.push(HashMap::new());
        }
        &mut self.tables[table]
    }

    /// The open file of a descriptor, if it has a path.
    pub(super) fn find(&mut self, process: u64, text: &str, files: &mut Files) -> Option<usize> {
        let (number, path) = descriptor(text)?;
        let known = self.table(process).get(&number).copied();
        let Some(path) = path else { return known };
        // Devices have their numbers in brackets after the path.
        if !path.starts_with('/') || path.contains('<') || is_made_up(path) {
            return None;
        }
        let file = files.intern(&unescape(path));
        match known.filter(|open| self.files[*open].file == file) {
            Some(open) => Some(open),
            None => Some(self.open(process, number, file)),
        }
    }
}
