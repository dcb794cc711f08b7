//! A policy of one's own: a file of records, whose reader always goes on to the record half a file away.

use std::sync::Arc;

use forerun::{CustomPolicy, Extent, Forerun, Options, PolicyRead, PolicyView, Result, Wishes};
use forerun_backend::MemoryBackend;

#[derive(Debug)]
struct OppositeRecord;

impl CustomPolicy for OppositeRecord {
    fn on_read(&mut self, read: &PolicyRead, _view: &PolicyView<'_>, wishes: &mut Wishes) {
        let offset = (read.extent.offset + read.size / 2) % read.size;
        wishes.read_ahead(Extent::new(offset, read.extent.len));
    }
}

pub(crate) fn main() -> Result<()> {
    let backend = Arc::new(MemoryBackend::new());
    backend.replace("records", vec![7; 32 << 20]);
    let forerun = Forerun::with_policy(backend, Options::default(), Box::new(OppositeRecord))?;
    let reader = forerun.open_blocking("records")?;

    let mut record = vec![0; 64 << 10];
    reader.read_at_blocking(&mut record, 0)?;
    reader.read_at_blocking(&mut record, 16 << 20)?;
    assert_eq!(record, vec![7; 64 << 10]);
    assert_eq!(forerun.counters().miss_bytes, 64 << 10, "of two records, the first alone was missing");
    Ok(())
}
