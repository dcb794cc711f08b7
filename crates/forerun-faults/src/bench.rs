//! The library, store and judge of a schedule.

use std::sync::Arc;
use std::time::Duration;

use forerun::Forerun;

use crate::judge::Judge;
use crate::store::Store;

/// The state that all readers share.
pub(crate) struct Bench {
    pub(crate) forerun: Forerun,
    pub(crate) store: Arc<Store>,
    pub(crate) judge: Arc<Judge>,
    pub(crate) memory_bytes: u64,
    pub(crate) ttl: Duration,
}
