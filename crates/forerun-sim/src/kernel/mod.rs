//! A kernel of the past between a source and a device: it serves programs as they were served before
//! Forerun.
//!
//! It has a page cache with the reclaim of 2.4 or 2.6, a readahead algorithm of `forerun_policies::kernel`,
//! and writeback. Each client has a processor of its own. The same [`Source`] and the same [`Device`] can
//! be given to a [`World`](crate::world::World), and the [`Run`]s compared.
//!
//! A read walks over its pages one by one and asks the algorithm at each. It waits for the first that is
//! not up to date, which unplugs the device's queue.

mod config;
mod dirty;
mod flight;
mod handles;
mod layer;
mod machine;
mod pages;
mod read;
mod task;
mod write;

pub use config::{FileState, KernelConfig, Reclaim, Unplug, Writeback};
pub use forerun_policies::kernel::Algorithm;
pub use layer::LoopDevice;

use crate::device::{Device, Time};
use crate::run::Run;
use crate::source::{Next, Source};
use crate::world::Stuck;
use machine::Kernel;

/// A kernel; see the module's page.
pub struct KernelWorld<'a> {
    kernel: Kernel<'a>,
}

impl<'a> KernelWorld<'a> {
    /// A kernel that reads ahead with `algorithm`, above `device`.
    pub fn new(
        config: KernelConfig,
        algorithm: Box<dyn Algorithm + 'a>,
        device: Box<dyn Device + 'a>,
    ) -> KernelWorld<'a> {
        KernelWorld { kernel: Kernel::new(config, algorithm, device) }
    }

    /// Lets `source` do all it wants. Readahead that nobody came for counts as
    /// wasted; what is dirty at the end is not written. A world runs once.
    ///
    /// # Errors
    /// Somebody waits and nothing will happen.
    pub fn run(mut self, source: &mut dyn Source) -> Result<Run, Stuck> {
        self.kernel.place(source.objects().to_vec(), source.client_count());
        loop {
            let next = source.next(self.kernel.now);
            if let Next::Step(step) = next {
                self.kernel.begin(step);
                self.deliver(source);
                continue;
            }
            match next {
                Next::End => return Ok(self.kernel.settle()),
                Next::Later(time) => self.pass_time(Some(time))?,
                _ => self.pass_time(None)?,
            }
            self.deliver(source);
        }
    }

    fn deliver(&mut self, source: &mut dyn Source) {
        while let Some(token) = self.kernel.poll_done() {
            source.done(self.kernel.now, token);
        }
    }

    /// Moves to the next moment at which something happens.
    fn pass_time(&mut self, later: Option<Time>) -> Result<(), Stuck> {
        match later.into_iter().chain(self.kernel.next_time()).min() {
            Some(time) => self.kernel.advance(time),
            None => return Err(Stuck { time: self.kernel.now, under_way: self.kernel.task_count() }),
        }
        Ok(())
    }
}
