//! The engine's reports about itself.

use std::sync::Arc;

use forerun_engine::{ByClass, DeviceEstimate, ObjectId, ObjectReport, Time};

use super::{Driver, Object};

impl Driver {
    /// Every object that the engine knows, each as it is when it is its turn: readers get
    /// the lock between two of them. The time is that of the call.
    pub(crate) fn explain(&self) -> (Time, Vec<(Arc<Object>, ObjectReport)>) {
        let ids: Vec<ObjectId> = self.lock.look().engine.objects().collect();
        let reports = ids.into_iter().filter_map(|id| self.lock.look().explain(id)).collect();
        (self.now(), reports)
    }

    pub(crate) fn readahead(&self) -> ByClass {
        self.lock.look().engine.readahead().clone()
    }

    pub(crate) fn device(&self) -> DeviceEstimate {
        self.lock.look().engine.device()
    }
}
