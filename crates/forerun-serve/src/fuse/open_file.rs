//! An open file, and the way it is read.

use std::sync::Arc;

use forerun::Reader;
use parking_lot::Mutex;

use super::governor::Runs;

/// A file that is open.
#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(super) ino: u64,
    pub(super) route: Route,
}

/// How an open file is read.
#[derive(Debug)]
pub(super) enum Route {
    /// Through the engine.
    Engine {
        reader: Reader,
        /// The runs of its inode, unless it bypasses the page cache.
        runs: Option<Arc<Mutex<Runs>>>,
    },
    /// By the kernel itself.
    Passed,
}

impl OpenFile {
    /// Its reader, if it is read through the engine.
    pub(crate) fn reader(&self) -> Option<&Reader> {
        match &self.route {
            Route::Engine { reader, .. } => Some(reader),
            Route::Passed => None,
        }
    }
}
