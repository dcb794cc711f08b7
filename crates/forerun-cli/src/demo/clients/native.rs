//! Clients in Rust that read parts of one object: through `object_store`, over NFS, or as a file of a mount.

use std::error::Error;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use bytes::Bytes;
use clap::ValueEnum;
use object_store::ObjectStoreExt;
use object_store::aws::AmazonS3Builder;

use super::nfs_reader::NfsReader;
use crate::demo::processors::seconds_of;
use crate::demo::reader::{in_turns, steps};
use crate::demo::store::BUCKET;
use crate::print::show;

const FILE: &str = "array.bin";
const READERS: u64 = 8;
/// Requests of a client of NFS in flight, as many as those of Linux have by default.
const NFS_REQUESTS: usize = 16;

/// Read parts of an object, for `bench clients`
#[derive(Debug, clap::Args)]
pub(crate) struct BenchClientCommand {
    client: NativeClient,

    /// The directory of the object, or the URL of an endpoint
    place: String,
}

/// A client, and the order in which it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum NativeClient {
    /// A part of each eighth in turn, one at a time
    Interleaved,
    /// From the end to the beginning, one at a time
    Backward,
    /// A part of each eighth in turn, over NFS
    #[value(name = "nfs-1m")]
    NfsLarge,
    /// The same with small requests
    #[value(name = "nfs-32k")]
    NfsSmall,
}

impl NativeClient {
    fn len(self) -> u64 {
        match self {
            NativeClient::Interleaved | NativeClient::Backward => 8 << 20,
            NativeClient::NfsLarge => 1 << 20,
            NativeClient::NfsSmall => 32 << 10,
        }
    }

    /// Requests at a time.
    fn requests(self) -> usize {
        if self.is_nfs() { NFS_REQUESTS } else { 1 }
    }

    fn is_nfs(self) -> bool {
        matches!(self, NativeClient::NfsLarge | NativeClient::NfsSmall)
    }

    fn offsets(self, size: u64) -> Vec<u64> {
        match self {
            NativeClient::Backward => steps(0..size, self.len()).into_iter().rev().collect(),
            _ => in_turns(READERS, size, self.len()),
        }
    }

    fn read(self, place: &str) -> Result<Vec<Bytes>, Box<dyn Error>> {
        if !place.contains("://") {
            return self.read_file(Path::new(place));
        }
        if self.is_nfs() {
            let server = std::env::var("FORERUN_BENCH_NFS")?;
            let (address, export) = server.split_once('/').ok_or("a server of NFS has no export")?;
            let mut reader = NfsReader::open(address, export, FILE)?;
            return reader.read_all(&self.offsets(reader.size), self.len() as u32, self.requests());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(self.read_object(place))
    }

    async fn read_object(self, endpoint: &str) -> Result<Vec<Bytes>, Box<dyn Error>> {
        // The HTTP client does not start without one, and another one would do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let store = AmazonS3Builder::new()
            .with_endpoint(endpoint)
            .with_allow_http(true)
            .with_bucket_name(BUCKET)
            .with_region("us-east-1")
            .with_skip_signature(true)
            .build()?;
        let path = FILE.into();
        let size = store.head(&path).await?.size;
        let mut pieces = Vec::new();
        for offset in self.offsets(size) {
            pieces.push(store.get_range(&path, offset..size.min(offset + self.len())).await?);
        }
        Ok(pieces)
    }

    /// Reads the file, by a thread for each request at a time.
    fn read_file(self, directory: &Path) -> Result<Vec<Bytes>, Box<dyn Error>> {
        let file = File::open(directory.join(FILE))?;
        let size = file.metadata()?.len();
        let (offsets, next) = (self.offsets(size), AtomicUsize::new(0));
        let work = || {
            let mut pieces = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(offset) = offsets.get(number) else { return Ok(pieces) };
                let mut piece = vec![0; self.len().min(size - offset) as usize];
                file.read_exact_at(&mut piece, *offset)?;
                pieces.push((number, Bytes::from(piece)));
            }
        };
        let read: std::io::Result<Vec<_>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..self.requests()).map(|_| scope.spawn(work)).collect();
            let ended = |thread: thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|_| Err(std::io::Error::other("a reading thread panicked")))
            };
            threads.into_iter().map(ended).collect()
        });
        let mut pieces: Vec<_> = read?.into_iter().flatten().collect();
        pieces.sort_unstable_by_key(|(number, _)| *number);
        Ok(pieces.into_iter().map(|(_, piece)| piece).collect())
    }
}

impl BenchClientCommand {
    /// Reads, and prints the figures of a measured program.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let used = || seconds_of(std::process::id()).unwrap_or_default();
        let (begun, used_before) = (Instant::now(), used());
        let pieces = self.client.read(&self.place)?;
        let (seconds, processor) = (begun.elapsed().as_secs_f64(), used() - used_before);
        let mut checksum = DefaultHasher::new();
        pieces.iter().for_each(|piece| checksum.write(piece));
        show(&format!(
            "seconds {seconds:.6}\nprocessor {processor:.2}\ntouched {}\nchecksum {:016x}\n",
            pieces.iter().map(Bytes::len).sum::<usize>(),
            checksum.finish()
        ))?;
        Ok(ExitCode::SUCCESS)
    }
}
