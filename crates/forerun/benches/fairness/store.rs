//! A store whose files have numbers for bytes: 10 ms away, 80 MB/s a connection, 100 MB/s in all.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use forerun::{Backend, ByteStream, Entry, Error, ErrorKind, Forerun, Options, Result, Version};
use forerun_backend::layer::{Delay, Rate};
use futures::{StreamExt, stream};

/// The bytes of each file.
pub(crate) const FILE_BYTES: u64 = 1_000_000_000;
/// The store gives so much to all readers together, in bytes per second.
pub(crate) const CAP: u64 = 100_000_000;
const CONNECTION_CAP: u64 = 80_000_000;
const LATENCY: Duration = Duration::from_millis(10);
/// The store sends pieces of so many bytes.
const PIECE_BYTES: u64 = 64 << 10;
const MEMORY_BYTES: u64 = 256 << 20;

/// An engine over such a store, with nothing in its memory.
pub(crate) fn engine() -> Forerun {
    let store = Rate::new(Arc::new(Numbers), Some(CONNECTION_CAP), Some(CAP));
    let options = Options::default().with_memory_bytes(MEMORY_BYTES);
    Forerun::over(Arc::new(Delay::new(Arc::new(store), LATENCY)), options).expect("an engine")
}

/// The byte at `at`.
pub(crate) fn byte(at: u64) -> u8 {
    (at >> 12) as u8
}

#[derive(Debug)]
struct Numbers;

#[async_trait]
impl Backend for Numbers {
    fn url(&self) -> String {
        "numbers:".to_owned()
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        Ok(if path.is_empty() {
            Entry::directory("")
        } else {
            Entry::file(path, FILE_BYTES, Version("1".into()))
        })
    }

    async fn list(&self, _path: &str) -> Result<Vec<Entry>> {
        Ok(Vec::new())
    }

    async fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        Err(Error::new(ErrorKind::Invalid, format!("{path:?} is no link")))
    }

    async fn fetch(&self, _path: &str, _version: &Version, extent: Range<u64>) -> Result<ByteStream> {
        let pieces = stream::unfold(extent, |left| async move {
            let end = left.end.min(left.start + PIECE_BYTES);
            let bytes: Vec<u8> = (left.start..end).map(byte).collect();
            (!bytes.is_empty()).then(|| (Ok(bytes.into()), end..left.end))
        });
        Ok(pieces.boxed())
    }
}
