//! On a runtime that has a single thread.

use std::sync::Arc;
use std::time::Duration;

use forerun::{Forerun, Options};
use forerun_backend::{MemoryBackend, layer};
use tokio::runtime::Builder;

use crate::gate::pattern;

#[test]
fn reads_that_block_run_a_runtime_of_one_thread() {
    let source = pattern(1 << 20);
    let memory = Arc::new(MemoryBackend::new());
    memory.replace("a", source.clone());
    let delayed = Arc::new(layer::Delay::new(memory, Duration::from_millis(1)));
    let runtime = Arc::new(Builder::new_current_thread().enable_time().build().unwrap());
    let options = Options { runtime: Some(Arc::clone(&runtime)), ..Options::default() };
    let forerun = Forerun::over(delayed, options).unwrap();
    let reader = forerun.block_on(forerun.open("a")).unwrap();
    let mut bytes = vec![0; source.len()];
    for (piece, at) in bytes.chunks_mut(100_000).zip((0..).step_by(100_000)) {
        reader.read_at(piece, at).unwrap();
    }
    assert!(bytes == source);
}
