//! The engine's reports about itself.

use std::sync::Arc;

use forerun_engine::{
    ByClass, Class, ClientId, Counters, DeviceEstimate, ObjectId, ObjectReport, Time, Usage,
};

use super::{Driver, Object};

impl Driver {
    /// Every object that the engine knows, each as it is when it is its turn: readers get
    /// the lock between two of them. The time is that of the call.
    pub(crate) fn explain(&self) -> (Time, Vec<(Arc<Object>, ObjectReport)>) {
        let ids: Vec<ObjectId> = self.lock.look().engine.objects().collect();
        let reports = ids.into_iter().filter_map(|id| self.lock.look().explain(id)).collect();
        (self.now(), reports)
    }

    /// The engine's sums and its state, all of one moment. Leases that have ended by then are not counted.
    pub(crate) fn figures(self: &Arc<Driver>) -> (Counters, ByClass, Usage, Vec<(ClientId, u64)>) {
        self.step(|state, _| {
            let engine = &state.engine;
            let clients = engine.client_bytes().collect();
            (engine.counters(), engine.readahead().clone(), engine.usage(), clients)
        })
    }

    /// How many streams of open objects there are of each class. Readers get the lock between two objects.
    pub(crate) fn stream_counts(&self) -> [(Class, u64); Class::ALL.len()] {
        let mut counts = Class::ALL.map(|class| (class, 0));
        let ids: Vec<ObjectId> = self.lock.look().engine.objects().collect();
        for id in ids {
            self.lock.look().engine.stream_classes(id, &mut |class| counts[class as usize].1 += 1);
        }
        counts
    }

    pub(crate) fn readahead(&self) -> ByClass {
        self.lock.look().engine.readahead().clone()
    }

    pub(crate) fn device(&self) -> DeviceEstimate {
        self.lock.look().engine.device()
    }
}
