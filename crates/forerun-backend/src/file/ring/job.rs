//! One piece of a file, from the open to the bytes.

use std::ffi::CString;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use rustix::fs::OFlags;
use tokio::sync::oneshot;

use super::kernel::{Completed, Kernel, KernelOperation};
use crate::Version;
use crate::file::direct::{Direct, DirectBuffer};
use crate::file::read::{VersionedFile, piece_len};

/// A piece on its way. If anything is wrong, the job ends without an answer: a thread then tries the same,
/// and finds the error.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) state: FileState,
    pub(super) offset: u64,
    pub(super) end: u64,
    pub(super) answer: oneshot::Sender<(Arc<VersionedFile>, Bytes)>,
}

/// The file to read.
#[derive(Debug)]
pub(super) enum FileState {
    Closed(Box<ClosedFile>),
    Open(Arc<VersionedFile>),
}

/// A file to be opened.
#[derive(Debug)]
pub(in crate::file) struct ClosedFile {
    pub(in crate::file) root: Arc<File>,
    /// Below the root.
    pub(in crate::file) path: CString,
    /// The whole path, for messages.
    pub(in crate::file) name: PathBuf,
    pub(in crate::file) direct: Arc<Direct>,
    pub(in crate::file) version: Version,
}

impl Job {
    /// Begins it, if somebody waits. Operations that hang may take all entries, and then threads do the rest.
    pub(super) fn begin(self, kernel: &mut Kernel<Job>) {
        if self.answer.is_closed() || !kernel.has_room() {
            return;
        }
        match &self.state {
            FileState::Open(_) => self.read(kernel),
            FileState::Closed(file) => {
                let operation = KernelOperation::Open { root: file.root.clone(), path: file.path.clone() };
                kernel.begin(operation, self);
            }
        }
    }

    /// Goes on after the end of its operation.
    pub(super) fn go_on(mut self, completed: Completed, kernel: &mut Kernel<Job>) {
        match completed {
            Completed::Open(file) => {
                let FileState::Closed(closed) = self.state else { return };
                if self.answer.is_closed() {
                    return;
                }
                // The open must not wait, but a read may.
                let _ = rustix::fs::fcntl_setfl(&file, OFlags::empty());
                let ClosedFile { name, direct, version, .. } = *closed;
                self.state = FileState::Open(Arc::new(VersionedFile::new(file, name, Some(direct), version)));
                self.read(kernel);
            }
            Completed::Read(buffer, count @ 1..) => self.end(buffer, count),
            Completed::Read(_, 0) | Completed::Failed => {}
        }
    }

    /// Reads the open file, if it is the right version.
    fn read(self, kernel: &mut Kernel<Job>) {
        let FileState::Open(file) = &self.state else { return };
        if file.check().is_ok() && !file.is_refused() {
            let buffer = DirectBuffer::new(self.offset, piece_len(self.offset, self.end));
            kernel.begin(KernelOperation::Read { file: file.file().clone(), buffer }, self);
        }
    }

    /// Answers with the `count` bytes of `buffer`. Another piece follows a short one.
    fn end(self, buffer: DirectBuffer, count: usize) {
        let FileState::Open(file) = self.state else { return };
        let bytes = buffer.into_bytes(count);
        if !bytes.is_empty() && file.check().is_ok() {
            // Nobody may wait any more. Then the bytes end here.
            let _ = self.answer.send((file, bytes));
        }
    }
}
