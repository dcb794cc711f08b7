//! One run: a new server, the reads, and the end of the server.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::process::Command;

use super::block_client::BlockClient;
use super::disk_reads::{DiskReads, Extent, IMAGE_BYTES, whole};
use crate::demo::data::{Contents, Object};
use crate::demo::link::Shape;
use crate::demo::process::{BlockExport, BlockServer, StoreProcess};
use crate::demo::processors::Processors;
use crate::demo::store::BUCKET;

/// Requests in flight while memory is filled.
const FILL_DEPTH: usize = 4;

/// The outcome of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct NbdRun {
    pub(super) elapsed: Duration,
    pub(super) read_bytes: u64,
    /// Bytes and requests that the store served, from the start of the server to its end.
    pub(super) fetched_bytes: u64,
    pub(super) request_count: u64,
    pub(super) wrong_reads: u64,
    /// Processors that other programs kept busy meanwhile.
    pub(super) processors_taken: f64,
}

/// The store of all runs.
#[derive(Debug)]
pub(super) struct NbdBench {
    store: StoreProcess,
    shape: Shape,
    contents: Arc<Contents>,
}

impl NbdBench {
    /// Starts a store behind a link like `shape`.
    pub(super) async fn start(shape: Shape) -> Result<NbdBench, String> {
        let store = StoreProcess::start(&["--size".as_ref(), IMAGE_BYTES.to_string().as_ref()]).await?;
        Ok(NbdBench { store, shape, contents: Arc::new(Contents::new(IMAGE_BYTES)) })
    }

    /// Makes `reads` of a new `server`, whose caches are empty.
    ///
    /// # Errors
    /// The step that failed.
    pub(super) async fn measure(&self, reads: DiskReads, server: BlockServer) -> Result<NbdRun, String> {
        let object = self.contents.object(reads.object()).ok_or("the demo's store has no such object")?;
        self.store.prepare(self.shape)?;
        let url = format!("http://{}/{BUCKET}/{}", self.store.address(), reads.object());
        let export = BlockExport { url: &url, size: object.size, profile: None };
        let process = server.start(export).await?;
        let socket = process.socket();
        let job = DiskJob { contents: Arc::clone(&self.contents), object, reads, server };
        let own: Vec<_> =
            [Some(std::process::id()), self.store.id(), process.id()].into_iter().flatten().collect();
        let before = Processors::now(&own);
        let mut run = match reads {
            DiskReads::Copy => copy(&socket).await,
            _ => {
                let done = tokio::task::spawn_blocking(move || job.read(&socket)).await;
                done.map_err(io::Error::from).and_then(|done| done).map_err(|error| error.to_string())
            }
        }?;
        if let (Some(before), Some(after)) = (before, Processors::now(&own)) {
            run.processors_taken = after.used_by_others_since(&before);
        }
        process.stop().await?;
        Ok(NbdRun {
            fetched_bytes: self.store.bytes_sent()?,
            request_count: self.store.requests_answered()?,
            ..run
        })
    }
}

/// The work of the client.
#[derive(Debug)]
struct DiskJob {
    contents: Arc<Contents>,
    object: Object,
    reads: DiskReads,
    server: BlockServer,
}

impl DiskJob {
    /// Reads from the server at `socket`, and checks every byte.
    fn read(&self, socket: &Path) -> io::Result<NbdRun> {
        let mut client = BlockClient::connect(socket)?;
        let mut wrong_reads = 0;
        if self.reads.is_cached() {
            let all = whole(self.object.size);
            if self.server == BlockServer::Memory {
                all.iter().try_for_each(|extent| client.write(extent.offset, &self.bytes(*extent)))?;
            }
            wrong_reads += self.check(&mut client, &all, FILL_DEPTH)?;
        }
        let extents = self.reads.extents(self.object.size);
        let begin = Instant::now();
        wrong_reads += self.check(&mut client, &extents, self.reads.depth())?;
        let read_bytes = extents.iter().map(|extent| u64::from(extent.len)).sum();
        Ok(NbdRun { wrong_reads, ..NbdRun::of(begin.elapsed(), read_bytes) })
    }

    /// Reads `extents`; how many of them have wrong bytes.
    fn check(&self, client: &mut BlockClient, extents: &[Extent], depth: usize) -> io::Result<u64> {
        let mut wrong_reads = 0;
        client.read(extents, depth, |extent, bytes| {
            wrong_reads += u64::from(!self.contents.matches(self.object, extent.offset, bytes));
        })?;
        Ok(wrong_reads)
    }

    fn bytes(&self, extent: Extent) -> Vec<u8> {
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < u64::from(extent.len) {
            let (from, left) =
                (extent.offset + bytes.len() as u64, u64::from(extent.len) - bytes.len() as u64);
            bytes.extend_from_slice(&self.contents.bytes_at(self.object, from, left));
        }
        bytes
    }
}

impl NbdRun {
    fn of(elapsed: Duration, read_bytes: u64) -> NbdRun {
        let (fetched_bytes, request_count, wrong_reads) = (0, 0, 0);
        NbdRun { elapsed, read_bytes, fetched_bytes, request_count, wrong_reads, processors_taken: 0.0 }
    }
}

/// Copies the image at `socket` to nowhere: a disk of this machine would be slower than the link.
async fn copy(socket: &Path) -> Result<NbdRun, String> {
    let begin = Instant::now();
    let source = format!("nbd+unix:///?socket={}", socket.display());
    let target = format!("driver=null-co,size={IMAGE_BYTES}");
    let mut command = Command::new("qemu-img");
    command.args(["convert", "-n", "-f", "raw", "--target-image-opts", &source, &target]);
    let done = command.stdin(Stdio::null()).kill_on_drop(true).output().await;
    let done = done.map_err(|error| format!("qemu-img does not start: {error}; try `make bench-nbd`"))?;
    if !done.status.success() {
        return Err(format!("qemu-img: {}", String::from_utf8_lossy(&done.stderr).trim()));
    }
    Ok(NbdRun::of(begin.elapsed(), IMAGE_BYTES))
}
