//! Disks in qcow2 images.

mod chains;
mod hostile;
pub(crate) mod maker;
mod reading;
mod status;

use std::sync::Arc;

use forerun::{Error, Forerun};
use forerun_serve::nbd::Source;

use super::support::{Served, Storage, engine, pattern};
use maker::{Cluster, Maker};

/// Serves `objects` as images. Their backing files are among them, if `has_backing`.
fn serve(objects: &[(&str, Vec<u8>)], has_backing: bool) -> Served {
    let (storage, forerun) = engine(64 << 20, objects);
    let source = source(&forerun, has_backing);
    Served::source(storage, forerun, source)
}

fn source(forerun: &Forerun, has_backing: bool) -> Source {
    Source::new(forerun.clone(), None).with_qcow2(has_backing.then(|| forerun.clone()))
}

/// The error of the image `name` among `objects`, which shall not be served.
#[track_caller]
fn error_of(objects: &[(&str, Vec<u8>)], has_backing: bool, name: &str) -> Error {
    let (storage, forerun) = engine(64 << 20, objects);
    let (source, runtime) = (source(&forerun, has_backing), tokio::runtime::Runtime::new().unwrap());
    let error = runtime.block_on(source.disk(name)).expect_err("it is refused");
    let _keeps: Arc<Storage> = storage;
    error
}

/// Clusters of each kind, and some in a row.
fn mixed(bits: u32) -> Maker {
    let data = |seed| pattern(1 << bits, seed);
    let clusters = vec![
        Cluster::Data(data(1)),
        Cluster::Data(data(2)),
        Cluster::Unallocated,
        Cluster::Packed(data(3)),
        Cluster::Packed(data(4)),
        Cluster::Zero,
        Cluster::Data(data(5)),
        Cluster::Unallocated,
    ];
    Maker::new(bits, clusters)
}
