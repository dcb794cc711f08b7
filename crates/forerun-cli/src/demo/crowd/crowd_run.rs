//! The measurement of one server.

use std::net::SocketAddr;
use std::path::Path;
use std::thread;
use std::time::Duration;

use forerun_serve::fuse::Mount;
use tokio::task::JoinSet;
use tokio::time::{Instant, interval, sleep_until};

use super::array_files::{FILE_BYTES, mount_array};
use super::disk_array::{DiskArray, DiskTotals};
use super::slow_client::{BYTES_PER_S, ClientOutcome, GRACE, STEP_BYTES, SlowClient, WAIT_MAX};
use super::web_server::WebServer;
use crate::demo::data::next_random;
use crate::demo::processors::seconds_of;
use crate::lab::MemoryGroup;

/// All addresses of the bench's own network are free.
const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8080);
/// Clients come during this part of the time.
const RAMP_PART: u32 = 6;
/// The memory is looked at as often: the kernel has no limit and no peak of several counters together.
const MEMORY_POLL: Duration = Duration::from_millis(100);
/// A client is at its rate with this share of it, less one step.
const RATE_SHARE_MIN: f64 = 0.99;

/// The load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) client_count: u64,
    /// From the first client to the end.
    pub(super) time: Duration,
    /// The memory of a server, the buffers of its sockets included.
    pub(super) memory_bytes: u64,
    /// The part of it that Forerun may use for data.
    pub(super) data_bytes: u64,
}

/// The figures of a server while it was measured.
#[derive(Clone, Debug)]
pub(super) struct CrowdRun {
    pub(super) client_count: u64,
    /// Clients that got their bytes at their rate.
    pub(super) at_rate_count: u64,
    pub(super) wait_max: Duration,
    /// Bytes that clients took.
    pub(super) bytes: u64,
    pub(super) disks: DiskTotals,
    pub(super) disk_count: usize,
    pub(super) measured: Duration,
    /// The most memory in use at a time, the buffers of sockets included.
    pub(super) memory_peak: u64,
    pub(super) processor_seconds: f64,
    /// Clients with a wrong byte.
    pub(super) wrong_count: u64,
    /// Clients that were not served to the end, and the reason of one.
    pub(super) failed_count: u64,
    pub(super) failure: Option<String>,
}

impl Load {
    fn ramp(&self) -> Duration {
        self.time / RAMP_PART
    }

    /// From when a server is measured: the last client has had its first seconds.
    pub(super) fn unmeasured(&self) -> Duration {
        self.ramp() + GRACE
    }

    /// Measures `server` on disks of its own.
    ///
    /// # Errors
    /// The step that failed.
    pub(super) async fn measure(&self, server: WebServer) -> Result<CrowdRun, String> {
        let scratch = tempfile::tempdir().map_err(|error| format!("a directory: {error}"))?;
        let files = scratch.path().join("files");
        std::fs::create_dir(&files).map_err(|error| format!("{}: {error}", files.display()))?;
        let (array, mount) = mounted(self.client_count, &files)?;
        let measured = self.measure_on(&array, server, &files, scratch.path()).await;
        // Also waits for the end of all requests.
        let unmounted = mount.unmount().map_err(|error| error.to_string());
        let run = measured?;
        unmounted.map(|_| run)
    }

    async fn measure_on(
        &self,
        array: &DiskArray,
        server: WebServer,
        files: &Path,
        scratch: &Path,
    ) -> Result<CrowdRun, String> {
        let group = MemoryGroup::new(self.memory_bytes)?;
        group.limit_sockets(self.memory_bytes)?;
        let mut process = server.start(ADDRESS, files, scratch, *self, &group).await?;
        let begin = Instant::now();
        let (measured_from, until) = (begin + self.unmeasured(), begin + self.time);
        let mut clients = self.come(server, begin);
        let (peak, work) = tokio::join!(self.peak_of(&group, until), async {
            sleep_until(measured_from).await;
            let before = (array.totals(), processor_seconds(&group));
            sleep_until(until).await;
            (array.totals().since(&before.0), processor_seconds(&group) - before.1)
        });
        let mut outcomes = Vec::new();
        while let Some(outcome) = clients.join_next().await {
            outcomes.push(outcome.map_err(|error| format!("a client: {error}"))?);
        }
        let measured = self.time - self.unmeasured();
        let mut run = CrowdRun::of(&outcomes, measured);
        (run.disks, run.processor_seconds) = work;
        (run.disk_count, run.memory_peak) = (array.disk_count(), peak?);
        if group.killed_count() > 0 {
            run.failure = Some("the kernel killed it for lack of memory".to_owned());
        } else if process.has_ended() {
            run.failure = Some("it ended".to_owned());
        }
        Ok(run)
    }

    /// Lets `group` keep its memory until then. Returns the most that was in use.
    async fn peak_of(&self, group: &MemoryGroup, until: Instant) -> Result<u64, String> {
        let mut peak = 0;
        let mut ticks = interval(MEMORY_POLL);
        while ticks.tick().await < until {
            peak = peak.max(group.share_with_sockets(self.memory_bytes)?);
        }
        Ok(peak)
    }

    /// Lets the clients come, each at a time of its own.
    fn come(&self, server: WebServer, begin: Instant) -> JoinSet<ClientOutcome> {
        let mut state = 1;
        let ramp_ns = self.ramp().as_nanos() as u64;
        let clients = (0..self.client_count).map(|file| SlowClient {
            address: ADDRESS,
            file,
            path: server.path_of(file),
            start: begin + Duration::from_nanos(next_random(&mut state) % ramp_ns),
            measured_from: begin + self.unmeasured(),
            until: begin + self.time,
        });
        clients.map(SlowClient::run).collect()
    }
}

impl CrowdRun {
    fn of(outcomes: &[ClientOutcome], measured: Duration) -> CrowdRun {
        let enough = measured.as_secs_f64() * BYTES_PER_S as f64 * RATE_SHARE_MIN - STEP_BYTES as f64;
        let count =
            |is: &dyn Fn(&ClientOutcome) -> bool| outcomes.iter().filter(|one| is(one)).count() as u64;
        CrowdRun {
            client_count: outcomes.len() as u64,
            at_rate_count: count(&|one| one.failure.is_none() && one.bytes as f64 >= enough),
            wait_max: outcomes.iter().map(|one| one.wait_max).max().unwrap_or_default(),
            bytes: outcomes.iter().map(|one| one.bytes).sum(),
            disks: DiskTotals::default(),
            disk_count: 0,
            measured,
            memory_peak: 0,
            processor_seconds: 0.0,
            wrong_count: count(&|one| !one.is_right),
            failed_count: count(&|one| one.failure.is_some()),
            failure: outcomes.iter().find_map(|one| one.failure.clone()),
        }
    }

    /// Bytes that the disks read for each byte that clients took.
    pub(super) fn fetched_ratio(&self) -> f64 {
        self.disks.read_bytes as f64 / self.bytes.max(1) as f64
    }

    /// Milliseconds of a disk for each second's bytes of a client.
    pub(super) fn disk_ms_per_client_second(&self) -> f64 {
        let client_seconds = self.bytes as f64 / BYTES_PER_S as f64;
        self.disks.busy_ns as f64 / 1e6 / client_seconds.max(1e-9)
    }

    /// Whether clients got all that they wanted, when they wanted it, and nothing was fetched twice.
    pub(super) fn keeps_promises(&self) -> bool {
        self.at_rate_count == self.client_count && self.wait_max <= WAIT_MAX && self.fetched_ratio() <= 1.02
    }

    /// Whether every client got right bytes to the end.
    pub(super) fn is_right(&self) -> bool {
        self.wrong_count == 0 && self.failed_count == 0 && self.failure.is_none()
    }
}

/// The disks, and a mount of their files on `directory`.
fn mounted(client_count: u64, directory: &Path) -> Result<(DiskArray, Mount), String> {
    // The disks must not wait for a processor. The threads that start below inherit this, and the servers do not.
    let mount = || {
        let _ = rustix::process::setpriority_process(None, -20);
        let array = DiskArray::start(client_count, FILE_BYTES)?;
        let mount = mount_array(array.clone(), client_count, directory)?;
        Ok((array, mount))
    };
    thread::scope(|scope| scope.spawn(mount).join().unwrap_or_else(|_| Err("a disk panicked".to_owned())))
}

fn processor_seconds(group: &MemoryGroup) -> f64 {
    group.process_ids().into_iter().filter_map(seconds_of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_without_its_bytes_or_to_the_end_is_not_at_its_rate() {
        let measured = Duration::from_secs(40);
        let good = ClientOutcome {
            bytes: 40 * BYTES_PER_S - STEP_BYTES,
            wait_max: Duration::ZERO,
            is_right: true,
            failure: None,
        };
        let slow = ClientOutcome { bytes: 38 * BYTES_PER_S, ..good.clone() };
        let cut = ClientOutcome { failure: Some("cut".to_owned()), is_right: false, ..good.clone() };
        let run = CrowdRun::of(&[good.clone(), slow, cut], measured);
        assert_eq!((run.at_rate_count, run.wrong_count, run.failed_count), (1, 1, 1));
        assert!(!run.keeps_promises() && !run.is_right());

        let mut run = CrowdRun::of(&[good], measured);
        run.disks = DiskTotals { read_bytes: run.bytes, busy_ns: 400_000_000, ..run.disks };
        assert!(run.keeps_promises() && run.is_right());
        assert!(
            (run.disk_ms_per_client_second() - 10.06).abs() < 0.01,
            "{}",
            run.disk_ms_per_client_second()
        );
        run.disks.read_bytes = run.bytes * 11 / 10;
        assert!(!run.keeps_promises());
        run.disks.read_bytes = run.bytes;
        run.wait_max = Duration::from_millis(101);
        assert!(!run.keeps_promises());
    }
}
