//! Calibration: the processor times that the simulator needs, measured once.
//!
//! No reader of the demo is involved: each number is measured by itself, and all predictions use
//! the same ones.

use std::fs::File;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use forerun::{ConnectOptions, Forerun, Options, PolicyKind};
use forerun_lab::fidelity::Costs;
use rustix::fs::{Advice, fadvise};

use crate::demo::data::Contents;
use crate::demo::link::Shape;
use crate::demo::median::median;
use crate::demo::process::MountOptions;
use crate::demo::session::Session;
use crate::demo::store::BUCKET;

/// A store that answers at once.
const AT_ONCE: Shape = Shape {
    latency: Duration::ZERO,
    connection_bytes_per_s: 10_000_000_000,
    total_bytes_per_s: 10_000_000_000,
};
/// A mount without readahead, for the bare costs.
const NONE: MountOptions<'_> = MountOptions { policy: "none", memory_bytes: 256 << 20, profile: None };
/// The bytes in the mount's memory when reads are timed.
const CACHED_BYTES: u64 = 32 << 20;
const SMALL_BYTES: u64 = 4 << 10;
const LARGE_BYTES: u64 = 64 << 10;
/// The number of timed reads of each size.
const READS: u64 = 1000;
/// The number of timed requests to the store.
const FETCHES: u64 = 31;
const FETCH_STEP_BYTES: u64 = 4 << 20;
/// The number of mounts in which a file is opened for the first time.
const OPENINGS: u32 = 5;

/// The measurements at one shape of the link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calibration {
    pub(super) shape: Shape,
    /// The time from `open` to a usable file in a new mount, in nanoseconds.
    pub(super) open_ns: u64,
    /// The same if the file is in a directory.
    pub(super) open_below_ns: u64,
    /// The time of a request to the store beyond the link's latency, in nanoseconds.
    pub(super) fetch_ns: u64,
    /// The costs of a read, and of an answer of the mount.
    pub(super) costs: Costs,
}

impl Calibration {
    /// Measures behind a link like `shape`.
    ///
    /// # Errors
    /// The step that failed.
    pub(super) async fn measure(session: &mut Session, shape: Shape) -> Result<Calibration, String> {
        let open_ns = opening(session, shape, "one.bin").await?;
        let open_below_ns = opening(session, shape, "big/0.bin").await?;
        let fetch_ns = fetching(session, shape).await?.saturating_sub(shape.latency.as_nanos() as u64);
        let (costs, _) = session.mounted(AT_ONCE, NONE, reading).await?;
        Ok(Calibration { shape, open_ns, open_below_ns, fetch_ns, costs })
    }

    /// The time of opening `file`.
    pub(super) fn open_ns_of(&self, file: &str) -> u64 {
        if file.contains('/') { self.open_below_ns } else { self.open_ns }
    }

    /// The numbers in a sentence.
    pub(super) fn describe(&self) -> String {
        let ms = |ns: u64| ns as f64 / 1e6;
        format!(
            "At {} ms: opening a file takes {:.1} ms, and {:.1} ms in a directory. A request to the store takes \
             {:.2} ms besides its latency. A read takes {:.1} us and {:.1} us for each page, and through the \
             mount {:.0} us and {:.1} us more.",
            self.shape.latency.as_millis(),
            ms(self.open_ns),
            ms(self.open_below_ns),
            ms(self.fetch_ns),
            self.costs.request_ns as f64 / 1e3,
            self.costs.page_ns as f64 / 1e3,
            self.costs.reply_ns as f64 / 1e3,
            self.costs.reply_page_ns as f64 / 1e3,
        )
    }
}

/// The time of opening `file` in a new mount.
async fn opening(session: &mut Session, shape: Shape, file: &'static str) -> Result<u64, String> {
    let mut times = Vec::new();
    for _ in 0..OPENINGS {
        let open = move |directory: &Path, _: &Contents| {
            let start = Instant::now();
            File::open(directory.join(file)).map_err(|error| format!("opening {file}: {error}"))?;
            Ok(start.elapsed())
        };
        times.push(session.mounted(shape, NONE, open).await?.0);
    }
    Ok(median_ns(times))
}

/// The time of a small request of the library to the store, on an open connection.
async fn fetching(session: &Session, shape: Shape) -> Result<u64, String> {
    let endpoint = format!("http://{}", session.store(shape)?);
    let fetch = move || -> forerun::Result<Vec<Duration>> {
        let options = Options::default().with_policy(PolicyKind::None).with_connect(
            ConnectOptions::default()
                .with_endpoint(Some(endpoint))
                .with_anonymous(true)
                .with_region(Some("us-east-1".to_owned())),
        );
        let forerun = Forerun::connect_blocking(&format!("s3://{BUCKET}"), options)?;
        let reader = forerun.open_blocking("random.bin")?;
        let mut buffer = vec![0; SMALL_BYTES as usize];
        (0..FETCHES)
            .map(|index| {
                let start = Instant::now();
                reader.read_at_blocking(&mut buffer, index * FETCH_STEP_BYTES)?;
                Ok(start.elapsed())
            })
            .collect()
    };
    let times = tokio::task::spawn_blocking(fetch).await.map_err(|error| format!("the reader: {error}"))?;
    times.map(median_ns).map_err(|error| format!("reading from the demo's store: {error}"))
}

/// The costs of reads with the check of their bytes: of bytes in the page cache, and of bytes only
/// in the mount's memory.
fn reading(directory: &Path, contents: &Contents) -> Result<Costs, String> {
    const NAME: &str = "one.bin";
    let failed = |error: std::io::Error| format!("reading {NAME}: {error}");
    let object = contents.object(NAME).ok_or("the demo has no one.bin")?;
    let cached_bytes = object.size.min(CACHED_BYTES);
    let file = File::open(directory.join(NAME)).map_err(failed)?;
    // Each read asks the mount for exactly its bytes.
    fadvise(&file, 0, None, Advice::Random).map_err(|error| failed(error.into()))?;
    let timed = |len: u64, from: Holder| -> Result<u64, String> {
        if from == Holder::Mount {
            // Drops the kernel's copy.
            let all = NonZeroU64::new(cached_bytes);
            fadvise(&file, 0, all, Advice::DontNeed).map_err(|error| failed(error.into()))?;
        }
        let mut buffer = vec![0; len as usize];
        let mut times = Vec::new();
        for offset in (0..cached_bytes).step_by(len as usize).take(READS as usize) {
            let start = Instant::now();
            file.read_exact_at(&mut buffer, offset).map_err(failed)?;
            if !contents.matches(object, offset, &buffer) {
                return Err(format!("{NAME} has wrong bytes at {offset}"));
            }
            times.push(start.elapsed());
        }
        Ok(median_ns(times))
    };
    timed(LARGE_BYTES, Holder::Mount)?;
    let mount_large_ns = timed(LARGE_BYTES, Holder::Mount)?;
    let (request_ns, page_ns) =
        split(timed(SMALL_BYTES, Holder::Kernel)?, timed(LARGE_BYTES, Holder::Kernel)?);
    let (all_ns, all_page_ns) = split(timed(SMALL_BYTES, Holder::Mount)?, mount_large_ns);
    Ok(Costs {
        request_ns,
        page_ns,
        reply_ns: all_ns.saturating_sub(request_ns),
        reply_page_ns: all_page_ns.saturating_sub(page_ns),
    })
}

/// The memory that holds the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    Kernel,
    Mount,
}

/// The base cost of a read and its cost for each page, if a small one takes `small_ns` and a large
/// one `large_ns`.
fn split(small_ns: u64, large_ns: u64) -> (u64, u64) {
    let page_ns = large_ns.saturating_sub(small_ns) * SMALL_BYTES / (LARGE_BYTES - SMALL_BYTES);
    (small_ns.saturating_sub(page_ns), page_ns)
}

fn median_ns(times: Vec<Duration>) -> u64 {
    median(times.into_iter().map(|time| time.as_nanos() as f64).collect()) as u64
}
