//! A thread that lets the memory follow what the machine has left.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use forerun::Forerun;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use super::group::Group;
use super::wanted::Moment;
use super::{MemorySize, allocator, limit};

/// Between two looks, unless the kernel tells of pressure.
const TICK: Duration = Duration::from_millis(250);
/// After an event, until the next counts.
const EVENT_PAUSE: Duration = Duration::from_millis(100);
/// Programs that wait for memory for this share of a tick are too many.
const STALLED_SHARE: u32 = 10;

/// Lets the memory follow until this is dropped.
#[derive(Debug)]
pub(crate) struct Following {
    stop: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

impl Following {
    /// The memory of `foreruns` follows what the machine has left, if `size` says so. Each has an equal part.
    ///
    /// # Errors
    /// If the system has no room for a thread.
    pub(crate) fn start(size: MemorySize, foreruns: Vec<Forerun>) -> io::Result<Option<Following>> {
        if !size.is_auto || foreruns.is_empty() {
            return Ok(None);
        }
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let ended = stop.try_clone()?;
        let follow = move || {
            let mut machine = Machine::of(Group::own());
            while let Some(is_pressed) = machine.wait(&ended) {
                adapt(size, &foreruns, is_pressed);
            }
        };
        let thread = thread::Builder::new().name("forerun-memory".to_owned()).spawn(follow)?;
        Ok(Some(Following { stop, thread: Some(thread) }))
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        // It cannot be full.
        let _ = rustix::io::write(&self.stop, &1_u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Gives the engines the memory that is wanted now.
fn adapt(size: MemorySize, foreruns: &[Forerun], is_pressed: bool) {
    let usages = foreruns.iter().map(Forerun::usage);
    let (kept, used) =
        usages.fold((0, 0), |(kept, used), usage| (kept + usage.memory_bytes_max, used + usage.memory_bytes));
    let moment = Moment { limit: limit().bytes, left: left(), is_pressed, kept, used };
    let wanted = moment.wanted(size.bytes);
    if wanted < kept {
        tracing::debug!(target: "forerun::memory", "memory falls from {kept} to {wanted} bytes: {moment:?}");
    }
    foreruns.iter().for_each(|forerun| forerun.set_memory_bytes(wanted / foreruns.len() as u64));
    if wanted < kept || is_pressed {
        allocator::give_back();
    }
}

/// The bytes that the machine and the control groups have left.
fn left() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let machine = machine.lines().find_map(|line| {
        let kib: u64 = line.strip_prefix("MemAvailable:")?.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kib << 10)
    });
    Group::own().iter().filter_map(Group::left).chain(machine).min().unwrap_or(u64::MAX)
}

/// Where the kernel tells of pressure.
struct Machine {
    /// Those that have this process, which may be moved.
    groups: Vec<Group>,
    /// They become readable under pressure.
    events: Vec<OwnedFd>,
    /// The pressure file of the control group. Without that and without events, it is the machine's.
    stalls: Option<PathBuf>,
    /// The last look at it, and the microseconds that it had.
    last: Option<(Instant, u64)>,
}

impl Machine {
    fn of(groups: Vec<Group>) -> Machine {
        // Without the rights for one, sizes alone are looked at.
        let events: Vec<_> =
            groups.iter().filter_map(|group| group.pressure_event().ok().flatten()).collect();
        let own = groups.iter().find_map(Group::pressure_file);
        // That of the machine counts waits for the limits of other groups as well.
        let of_machine = || events.is_empty().then(|| PathBuf::from("/proc/pressure/memory"));
        let stalls = own.or_else(of_machine);
        Machine { groups, events, stalls, last: None }
    }

    /// Waits for a tick, or for pressure, and tells whether there is some. The result is `None` once `stop` is readable.
    fn wait(&mut self, stop: &OwnedFd) -> Option<bool> {
        let groups = Group::own();
        if groups != self.groups {
            *self = Machine::of(groups);
        }
        let mut watched: Vec<PollFd<'_>> =
            [stop].into_iter().chain(&self.events).map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        let time = Timespec { tv_sec: 0, tv_nsec: TICK.subsec_nanos().into() };
        let count = poll(&mut watched, Some(&time)).unwrap_or_else(|_| {
            // A poll that fails at once must not make this loop spin.
            thread::sleep(TICK);
            0
        });
        if !watched[0].revents().is_empty() {
            return None;
        }
        if count > 0 {
            // Memory that goes takes a moment to be missed no more: one event counts for all that come meanwhile.
            thread::sleep(EVENT_PAUSE);
        }
        for event in &self.events {
            let _ = rustix::io::read(event, &mut [0_u8; 8]);
        }
        Some(count > 0 || self.is_stalled())
    }

    /// Whether programs have waited for memory for long since the last look.
    fn is_stalled(&mut self) -> bool {
        let stalled = self.stalls.as_deref().and_then(stalled_us);
        let now = stalled.map(|stalled| (Instant::now(), stalled));
        let Some((before, now)) = std::mem::replace(&mut self.last, now).zip(now) else { return false };
        let stalled = Duration::from_micros(now.1.saturating_sub(before.1));
        stalled > (now.0 - before.0) / STALLED_SHARE
    }
}

/// How long some program waited for memory since the start, by a pressure file of the kernel.
fn stalled_us(file: &Path) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    text.lines().next()?.strip_prefix("some ")?.rsplit_once("total=")?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pressure_files_tell_how_long_programs_waited() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = "some avg10=1.53 avg60=0.29 avg300=0.06 total=12345\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=6\n";
        fs::write(&file, text).unwrap();
        assert_eq!(stalled_us(file.path()), Some(12345));
        fs::write(&file, "").unwrap();
        assert_eq!(stalled_us(file.path()), None);
    }

    #[test]
    fn the_wait_ends_with_its_owner() {
        let stop = eventfd(0, EventfdFlags::CLOEXEC).unwrap();
        let mut machine = Machine::of(Group::own());
        assert!(machine.wait(&stop).is_some());
        rustix::io::write(&stop, &1_u64.to_ne_bytes()).unwrap();
        assert_eq!(machine.wait(&stop), None);
    }
}
