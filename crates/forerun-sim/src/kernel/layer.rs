//! A file as a disk: the loop device.

use std::collections::VecDeque;

use super::config::KernelConfig;
use super::machine::Kernel;
use crate::device::{Device, DeviceStats, Direction, Notice, Request, RequestId, Time};
use crate::source::{Deed, Extent, ObjectId, Placed, Step};
use forerun_policies::kernel::Algorithm;

/// A device whose bytes are a file. It reads and writes them through a page cache of its own, with its own
/// readahead, one request after the other.
pub struct LoopDevice<'a> {
    kernel: Kernel<'a>,
    waiting: VecDeque<Request>,
    /// The request that the file system works on.
    served: Option<RequestId>,
    notices: Vec<Notice>,
}

impl<'a> LoopDevice<'a> {
    /// The file at `file` of `device`, as a disk of its size. Its readers all are
    /// one reader to `algorithm`.
    pub fn new(
        config: KernelConfig,
        algorithm: Box<dyn Algorithm + 'a>,
        device: Box<dyn Device + 'a>,
        file: Placed,
    ) -> LoopDevice<'a> {
        let mut kernel = Kernel::new(config, algorithm, device);
        kernel.place(vec![file], 1);
        LoopDevice { kernel, waiting: VecDeque::new(), served: None, notices: Vec::new() }
    }

    /// Serves until a request takes time.
    fn serve(&mut self) {
        loop {
            while self.kernel.poll_done().is_some() {
                self.notices.extend(self.served.take().map(|id| Notice::Done { id }));
            }
            if self.served.is_some() {
                return;
            }
            let Some(request) = self.waiting.pop_front() else { return };
            self.served = Some(request.id);
            let deed = match request.direction {
                Direction::Read => Deed::Read { asked: request.len },
                Direction::Write => Deed::Write,
            };
            let extent = Extent::new(request.address, request.len);
            self.kernel.begin(Step { token: 0, client: 0, deed, object: ObjectId(0), extent });
        }
    }
}

impl Device for LoopDevice<'_> {
    fn submit(&mut self, now: Time, request: Request) {
        self.kernel.now = self.kernel.now.max(now);
        self.waiting.push_back(request);
        self.serve();
    }

    fn next_time(&self) -> Option<Time> {
        if self.notices.is_empty() { self.kernel.next_time() } else { Some(self.kernel.now) }
    }

    fn advance(&mut self, now: Time, notices: &mut Vec<Notice>) {
        self.kernel.advance(now);
        self.serve();
        notices.append(&mut self.notices);
    }

    fn slot_count(&self) -> usize {
        1
    }

    /// The counters of its disk.
    fn stats(&self) -> DeviceStats {
        self.kernel.device.stats()
    }
}
