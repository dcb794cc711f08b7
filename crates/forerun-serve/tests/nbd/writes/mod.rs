//! Writes: their requests, and the places that they go to.

mod direct;
mod model;
mod overlay;
mod trouble;

use std::path::Path;
use std::sync::Arc;

use forerun::{Entry, Forerun, Options};
use forerun_serve::nbd::{Overlay, Source, WritableObject, WrittenSource};
use tokio::runtime::Runtime;

use super::client::Client;
use super::numbers::*;
use super::support::{Served, Storage, engine};

/// Writes `bytes`; the error, or 0.
fn write(client: &mut Client, flags: u16, offset: u64, bytes: &[u8]) -> u32 {
    let cookie = client.request(WRITE, flags, offset, bytes.len() as u32);
    client.send(bytes);
    client.outcome(cookie)
}

/// Sends a request without bytes; the error, or 0.
fn ask(client: &mut Client, kind: u16, flags: u16, offset: u64, len: u32) -> u32 {
    let cookie = client.request(kind, flags, offset, len);
    client.outcome(cookie)
}

fn flush(client: &mut Client) {
    assert_eq!(ask(client, FLUSH, 0, 0, 0), 0);
}

/// The object `a` of `bytes`, and an engine above it.
fn base(bytes: Vec<u8>) -> (Arc<Storage>, Forerun) {
    engine(16 << 20, &[("a", bytes)])
}

fn entry(forerun: &Forerun) -> Entry {
    forerun.stat_blocking("a").unwrap()
}

/// Serves the object `a` of `storage` with the overlay `path`.
fn serve(storage: &Arc<Storage>, forerun: &Forerun, path: &Path) -> Served {
    let overlay = Overlay::open(path, &entry(forerun)).unwrap();
    let source = Source::new(forerun.clone(), None).with_overlay("a", overlay);
    Served::source(Arc::clone(storage), forerun.clone(), source)
}

/// Serves the file `path`, which may be written.
fn serve_file(path: &Path, options: Options) -> Served {
    let url = path.to_str().unwrap();
    let found = Forerun::connect_blocking(url, options.clone()).unwrap();
    let file = Runtime::new().unwrap().block_on(WritableObject::open(&found)).unwrap();
    let file = Arc::new(file);
    let backend = Arc::new(WrittenSource(Arc::clone(&file)));
    let forerun = Forerun::over(backend, options).unwrap();
    let source = Source::new(forerun.clone(), None).with_writable(file);
    Served::source(engine(16 << 20, &[]).0, forerun, source)
}
