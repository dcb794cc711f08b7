//! The operations of one io_uring, and all the `unsafe` code for them.
//!
//! An operation owns what the kernel reads and writes until it has completed, whoever waits for it.

use std::collections::HashMap;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::sync::Arc;
use std::time::Duration;

use io_uring::types::{Fd, OpenHow};
use io_uring::{IoUring, Probe, cqueue, opcode, squeue};
use rustix::fs::{OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::file::direct::DirectBuffer;

/// Operations in flight at most: as many as fetches of an engine.
const OPERATIONS_MAX: u32 = 128;
/// Before a kernel without memory is asked again.
const PAUSE: Duration = Duration::from_millis(1);

/// A pipe put in the file's place must not block the open, and a link must not lead out of the tree.
static HOW: OpenHow = OpenHow::new().flags(FLAGS.bits() as u64).resolve(RESOLVE.bits());
const FLAGS: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);
const RESOLVE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);

/// One thing that the kernel does.
#[derive(Debug)]
pub(super) enum KernelOperation {
    /// Opens the file at `path` below `root`.
    Open { root: Arc<File>, path: CString },
    /// Reads `file` into `buffer`.
    Read { file: Arc<File>, buffer: DirectBuffer },
}

impl KernelOperation {
    fn entry(&mut self) -> squeue::Entry {
        match self {
            KernelOperation::Open { root, path } => {
                opcode::OpenAt2::new(Fd(root.as_raw_fd()), path.as_ptr(), &raw const HOW).build()
            }
            KernelOperation::Read { file, buffer } => {
                let (offset, room) = (buffer.offset(), buffer.room());
                // A piece is far shorter.
                let len = u32::try_from(room.len()).unwrap_or(u32::MAX);
                opcode::Read::new(Fd(file.as_raw_fd()), room.as_mut_ptr(), len).offset(offset).build()
            }
        }
    }

    fn completed(self, result: i32) -> Completed {
        match (self, usize::try_from(result)) {
            // SAFETY: the kernel has opened this descriptor for this operation, so nothing else owns it.
            (KernelOperation::Open { .. }, Ok(_)) => Completed::Open(unsafe { File::from_raw_fd(result) }),
            (KernelOperation::Read { buffer, .. }, Ok(count)) => Completed::Read(buffer, count),
            (_, Err(_)) => Completed::Failed,
        }
    }
}

/// The end of an operation.
#[derive(Debug)]
pub(super) enum Completed {
    Open(File),
    /// The buffer has this count of bytes.
    Read(DirectBuffer, usize),
    Failed,
}

/// An io_uring. Each operation has a purpose of type `P`.
pub(super) struct Kernel<P> {
    ring: IoUring,
    in_flight: HashMap<u64, (KernelOperation, P)>,
    begun_count: u64,
}

impl<P> Kernel<P> {
    /// A ring that rings `bell` when the kernel has done something. Nothing waits in io_uring_enter(2), since Valgrind
    /// stops all other threads meanwhile.
    ///
    /// # Errors
    /// The kernel has no io_uring with these operations, or does not give one to this process.
    pub(super) fn new(bell: &File) -> io::Result<Kernel<P>> {
        let ring = IoUring::new(OPERATIONS_MAX)?;
        ring.submitter().register_eventfd(bell.as_raw_fd())?;
        let mut probe = Probe::new();
        ring.submitter().register_probe(&mut probe)?;
        if !probe.is_supported(opcode::OpenAt2::CODE) || !probe.is_supported(opcode::Read::CODE) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        // Reads that must wait each have a thread of the kernel's. Without this they are few, on slow storage too.
        let _ = ring.submitter().register_iowq_max_workers(&mut [OPERATIONS_MAX, 0]);
        Ok(Kernel { ring, in_flight: HashMap::new(), begun_count: 0 })
    }

    pub(super) fn has_room(&self) -> bool {
        self.in_flight.len() < OPERATIONS_MAX as usize
    }

    pub(super) fn is_idle(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Begins `operation`. The caller has asked whether there is room.
    pub(super) fn begin(&mut self, mut operation: KernelOperation, purpose: P) {
        let key = self.begun_count;
        self.begun_count += 1;
        let entry = operation.entry().user_data(key);
        self.in_flight.insert(key, (operation, purpose));
        // SAFETY: `in_flight` owns the files, the path and the buffer of the entry until the kernel has completed it.
        // Path and buffer are on the heap, and stay there when their owner moves.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        pushed.expect("the ring has an entry for each operation in flight");
    }

    /// Gives the kernel what was begun.
    ///
    /// # Errors
    /// The kernel takes no operations any more.
    pub(super) fn submit(&mut self) -> io::Result<()> {
        while !self.ring.submission().is_empty() {
            let Err(error) = self.ring.submit() else { continue };
            match Errno::from_io_error(&error) {
                Some(Errno::INTR) => {}
                // The kernel lacks memory.
                Some(Errno::AGAIN | Errno::BUSY) => std::thread::sleep(PAUSE),
                _ => return Err(error),
            }
        }
        Ok(())
    }

    /// All operations that have completed since this was called last.
    pub(super) fn take_completed(&mut self) -> Vec<(Completed, P)> {
        let ends = self.ring.completion().map(|end: cqueue::Entry| (end.user_data(), end.result()));
        let ends: Vec<(u64, i32)> = ends.collect();
        let completed = ends.into_iter().filter_map(|(key, result)| {
            let (operation, purpose) = self.in_flight.remove(&key)?;
            Some((operation.completed(result), purpose))
        });
        completed.collect()
    }
}

impl<P> Drop for Kernel<P> {
    fn drop(&mut self) {
        // After an error the kernel may still write to these buffers. They are never given to anybody else.
        for (_, (operation, purpose)) in self.in_flight.drain() {
            std::mem::forget(operation);
            drop(purpose);
        }
    }
}
