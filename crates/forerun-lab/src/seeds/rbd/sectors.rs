//! librbd caches bytes; the engine caches blocks of 4 KiB. Here a block stands for a sector of 512
//! bytes. Every offset and length that the engine sees is eight times that of the readers and of
//! the device.

use forerun_engine::BLOCK_BYTES;
use forerun_sim::device::{Device, DeviceStats, Notice, Request, RequestId, Time};
use forerun_sim::source::{Extent, Next, Placed, Source, Step};

/// How many times larger everything is for the engine.
pub(super) const SCALE: u64 = BLOCK_BYTES / 512;

/// A source whose objects are [`SCALE`] times as large.
pub(super) struct Magnified {
    inner: Box<dyn Source>,
    objects: Vec<Placed>,
}

impl Magnified {
    pub(super) fn new(inner: Box<dyn Source>) -> Magnified {
        let large = |placed: &Placed| Placed { address: placed.address * SCALE, size: placed.size * SCALE };
        Magnified { objects: inner.objects().iter().map(large).collect(), inner }
    }
}

impl Source for Magnified {
    fn objects(&self) -> &[Placed] {
        &self.objects
    }

    fn client_count(&self) -> usize {
        self.inner.client_count()
    }

    fn next(&mut self, now: Time) -> Next {
        match self.inner.next(now) {
            Next::Step(step) => {
                let extent = Extent::new(step.extent.offset * SCALE, step.extent.len * SCALE);
                Next::Step(Step { extent, ..step })
            }
            next => next,
        }
    }

    fn done(&mut self, now: Time, token: u64) {
        self.inner.done(now, token);
    }
}

/// The device below the engine of a [`Magnified`] source.
pub(super) struct Reduced(pub(super) Box<dyn Device>);

impl Device for Reduced {
    fn submit(&mut self, now: Time, request: Request) {
        let (address, len) = (request.address / SCALE, request.len.div_ceil(SCALE));
        self.0.submit(now, Request { address, len, ..request });
    }

    fn cancel(&mut self, now: Time, id: RequestId) -> bool {
        self.0.cancel(now, id)
    }

    fn next_time(&self) -> Option<Time> {
        self.0.next_time()
    }

    fn advance(&mut self, now: Time, notices: &mut Vec<Notice>) {
        let first = notices.len();
        self.0.advance(now, notices);
        for notice in &mut notices[first..] {
            if let Notice::Progress { bytes, .. } = notice {
                *bytes *= SCALE;
            }
        }
    }

    fn slot_count(&self) -> usize {
        self.0.slot_count()
    }

    fn unplug(&mut self, now: Time) {
        self.0.unplug(now);
    }

    fn stats(&self) -> DeviceStats {
        self.0.stats()
    }
}
