//! The engine as a device: below a simulated kernel's page cache it is what a
//! mount is.

use forerun_engine::{Config, ConfigError, Counters, Extent, ObjectId, ReaderId};

use super::service::{Job, Service};
use crate::device::{Device, DeviceStats, Direction, Notice, Request, RequestId, Time};
use crate::source::Placed;

/// A device whose requests the engine serves from another device. Addresses are those of the objects on it:
/// a request lies within one object.
///
/// Each object is open once. A mount sees open files, not the threads that read them, so all threads that
/// ask for an object are one reader to the engine.
pub struct Served<'a> {
    service: Service<'a>,
    placed: Vec<Placed>,
}

impl<'a> Served<'a> {
    /// An engine with `config` above `device`, and the objects that are open on it.
    ///
    /// # Errors
    /// A configuration that no engine can keep.
    pub fn new(
        config: Config,
        device: Box<dyn Device + 'a>,
        placed: &[Placed],
    ) -> Result<Served<'a>, ConfigError> {
        let mut service = Service::new(config, device)?;
        service.place(placed);
        (0..placed.len() as u64).for_each(|object| service.open(ObjectId(object)));
        Ok(Served { service, placed: placed.to_vec() })
    }

    /// The engine's counters.
    pub fn counters(&self) -> Counters {
        self.service.counters()
    }

    /// The object at `address`.
    fn object_at(&self, address: u64) -> usize {
        self.placed.partition_point(|placed| placed.address <= address).saturating_sub(1)
    }
}

impl Device for Served<'_> {
    fn submit(&mut self, now: Time, request: Request) {
        self.service.now = self.service.now.max(now);
        let object = self.object_at(request.address);
        let Placed { address, size } = self.placed[object];
        // A kernel asks for whole pages, past the end of what ends within one.
        let extent = Extent::new(request.address - address, request.len).intersection(&Extent::new(0, size));
        let job = Job {
            token: request.id.0,
            reader: ReaderId(object as u64),
            object: ObjectId(object as u64),
            extent,
            asked: now,
        };
        match request.direction {
            Direction::Read => self.service.read(job),
            Direction::Write => self.service.write(job),
        }
    }

    fn next_time(&self) -> Option<Time> {
        if self.service.has_done() { Some(self.service.now) } else { self.service.next_time() }
    }

    fn advance(&mut self, now: Time, notices: &mut Vec<Notice>) {
        self.service.advance(now);
        self.service.obey();
        while let Some((job, _)) = self.service.next_done() {
            notices.push(Notice::Done { id: RequestId(job.token) });
        }
    }

    fn slot_count(&self) -> usize {
        usize::MAX
    }

    /// The counters of the device below.
    fn stats(&self) -> DeviceStats {
        self.service.device_stats()
    }
}
