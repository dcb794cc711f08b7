//! Reads of open files: from a READ of the kernel to a read of the engine, and to the answer.

use std::ops::Range;
use std::sync::Arc;

use forerun::{Error, ErrorKind, Extent, Lease};
use rustix::io::Errno;

use super::errno::report_read;
use super::governor::{Step, Way};
use super::open_file::{OpenFile, Route};
use super::push::{Push, Pusher, ReadyRead};
use super::session::Reply;
use super::tree::Tree;
use super::waits::Asker;

impl Tree {
    pub(crate) fn read(self: &Arc<Tree>, asker: Asker, handle: u64, offset: u64, len: usize, reply: Reply) {
        let Some(file) = self.files.get(handle) else { return reply.error(Errno::BADF) };
        // The kernel reads this file itself. It sends a READ only for `readahead` calls of a
        // program, and would keep the bytes in pages that nobody reads.
        let Route::Engine { reader, runs } = &file.route else { return reply.error(Errno::IO) };
        self.tally.add_read(len as u64);
        tracing::trace!(target: "forerun::mount", path = &*reader.entry().path, offset, bytes = len, "a read");
        let step = runs.as_ref().map(|runs| runs.lock().read(&(offset..offset + len as u64), reader.size()));
        let Step { passed, room } = step.unwrap_or_default();
        let mut passed: Vec<_> = passed.iter().map(|range| Extent::between(range.start, range.end)).collect();
        if let (Some(pusher), Some(room)) = (&self.pusher, room) {
            let read = Extent::new(offset, len as u64);
            if let Some(bytes) = reader.peek(read, |lease| lease.to_contiguous().into_owned()) {
                passed.push(read);
                reader.consume(&passed);
                let extent = offset..offset + len as u64;
                return push_ahead(pusher, &file, &room, ReadyRead { ino: file.ino, extent, reply, bytes });
            }
        }
        if !passed.is_empty() {
            reader.consume(&passed);
        }
        let unique = asker.unique;
        let pending = reader.submit_for(
            offset,
            len,
            reply,
            |reply, result| self.answer_read(&reader.entry().path, reply, result),
            |reply| {
                let (tree, path) = (self.clone(), reader.entry().path.clone());
                move |result| {
                    tree.waits.remove(unique);
                    tree.answer_read(&path, reply, result);
                }
            },
        );
        if let Some(pending) = pending {
            self.waits.add_read(asker, pending);
        }
    }

    fn answer_read(&self, path: &str, reply: Reply, result: Result<Lease<'_>, Error>) {
        match result {
            Ok(lease) => reply.pieces(lease.slices()),
            Err(error) => {
                if matches!(error.kind, ErrorKind::Changed | ErrorKind::NotFound) {
                    // So that the next open does not meet the old version again.
                    self.forerun.invalidate_metadata(path);
                }
                reply.error(report_read(&error));
            }
        }
    }
}

/// Pushes the readahead in `room` that is in memory into the page cache of `ino`. The READ beside
/// it is answered after the first push.
fn push_ahead(pusher: &Pusher, file: &OpenFile, room: &(Range<u64>, Way), answer: ReadyRead) {
    let mut answer = Some(answer);
    if let Route::Engine { reader, runs: Some(runs) } = &file.route {
        let (room, way) = room;
        let unread_bytes = reader.unread_bytes(Extent::between(room.start, room.end), *way == Way::Down);
        let extents = runs.lock().push(room, *way, unread_bytes);
        for extent in extents {
            pusher.push(Push { ino: file.ino, reader: reader.clone(), extent });
            answer.take().into_iter().for_each(|answer| pusher.answer(answer));
        }
    }
    // Nothing was pushed.
    if let Some(ReadyRead { reply, bytes, .. }) = answer {
        reply.bytes(&bytes);
    }
}

#[cfg(test)]
mod tests;
