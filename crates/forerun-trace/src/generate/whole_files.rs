//! Files that are opened, read from beginning to end and closed, one after the other. A walk
//! through a tree does so, and so does a file server's client that first writes each of them.

use super::numbers::Numbers;
use super::request::Request;
use crate::{FileId, Files, Op};

/// A file of a thread.
#[derive(Clone, Copy)]
pub(super) struct File {
    pub(super) id: FileId,
    pub(super) bytes: u64,
}

/// A thread's progress through its files.
pub(super) struct WholeFiles {
    files: Vec<File>,
    /// Whether each is written before it is read.
    written_first: bool,
    place: usize,
    writing: bool,
    /// The next byte of the file that is open.
    open_at: Option<u64>,
}

impl WholeFiles {
    /// Reads `files` in their order.
    pub(super) fn read(files: Vec<File>) -> WholeFiles {
        WholeFiles { files, written_first: false, place: 0, writing: false, open_at: None }
    }

    /// Writes each of `files`, then reads it back.
    pub(super) fn written(files: Vec<File>) -> WholeFiles {
        WholeFiles { written_first: true, writing: true, ..WholeFiles::read(files) }
    }

    /// The next request, of at most `request_bytes`, without its think time; none after the last
    /// file.
    pub(super) fn next(&mut self, request_bytes: u64) -> Option<Request> {
        let File { id, bytes } = *self.files.get(self.place)?;
        let (op, offset, len) = match self.open_at {
            None => (Op::Open { read_only: !self.writing }, 0, 0),
            Some(offset) if offset < bytes => {
                let op = if self.writing { Op::Write } else { Op::Read };
                (op, offset, request_bytes.min(bytes - offset))
            }
            Some(_) => (Op::Close, 0, 0),
        };
        self.open_at = (op != Op::Close).then_some(offset + len);
        if op == Op::Close {
            self.place += usize::from(!self.writing);
            self.writing = self.written_first && !self.writing;
        }
        Some(Request { op, file: id, offset, len, asked: None, think_ns: 0 })
    }
}

/// `count` files of thread `number`, of various sizes up to `bytes_max`, in random order.
pub(super) fn small(
    count: u64,
    bytes_max: u64,
    number: u64,
    numbers: &mut Numbers,
    files: &mut Files,
) -> Vec<File> {
    let mut tree: Vec<File> = (0..count)
        .map(|at| {
            let id = files.intern(&format!("tree{number}/{:03}/{at:06}", at / 1000));
            // Small files are many: the logarithm of the size is uniform.
            let bits = u64::from(bytes_max.ilog2());
            let most = 1_u64 << (numbers.below(bits + 1));
            File { id, bytes: (most + numbers.below(most)).min(bytes_max) }
        })
        .collect();
    for at in (1..tree.len()).rev() {
        tree.swap(at, numbers.below(at as u64 + 1) as usize);
    }
    tree
}

/// `count` files of `bytes` each of thread `number`.
pub(super) fn equal(count: u64, bytes: u64, number: u64, files: &mut Files) -> Vec<File> {
    (0..count).map(|at| File { id: files.intern(&format!("client{number}/{at:06}")), bytes }).collect()
}
