//! Slow readers under several policies.

use forerun_engine::{Config, Engine};
use forerun_policies::PolicyKind;
use forerun_sim::device::Preset;
use forerun_sim::run::Run;

use super::least::{AS_BUSY, least_steps};
use super::reader_row::{ReaderRow, busy_percent};
use super::{Readahead, SlowReaders};
use crate::error::Error;
use crate::work::on_all_cores_with;

/// The memory that a policy needs is searched in steps of so many bytes for each reader, up to so many.
const STEP_BYTES: u64 = 32 << 10;
const STEPS_MAX: u64 = 192;

/// Readers, and what they read from.
#[derive(Clone, Debug)]
pub struct ReaderTrial {
    /// The readers.
    pub readers: SlowReaders,
    /// From where they read.
    pub device: Preset,
    /// The memory for files, in bytes.
    pub memory_bytes: u64,
    /// The policies, each once.
    pub policies: Vec<PolicyKind>,
    /// The largest window of policies that have a fixed maximum, in bytes.
    pub window_bytes_max: u64,
}

/// A run that does not depend on another.
#[derive(Clone, Copy, Debug)]
enum Memory {
    Given,
    Ample,
}

impl ReaderTrial {
    /// A row for each policy, the same each time. `progress` hears how many runs and searches are done.
    ///
    /// # Errors
    /// The files are larger than the device, or no engine can keep the budget.
    pub fn run(&self, progress: impl Fn(usize, usize) + Sync) -> Result<Vec<ReaderRow>, Error> {
        self.check()?;
        let count = self.policies.len();
        let all = 3 * count;
        let jobs: Vec<(PolicyKind, Memory)> = [Memory::Given, Memory::Ample]
            .into_iter()
            .flat_map(|memory| self.policies.iter().map(move |policy| (*policy, memory)))
            .collect();
        let run = |(policy, memory): &(PolicyKind, Memory)| {
            Ok::<_, Error>(match memory {
                Memory::Given => self.serve(*policy, self.memory_bytes),
                Memory::Ample => self.serve(*policy, self.memory_of(STEPS_MAX)),
            })
        };
        let mut runs = on_all_cores_with(&jobs, run, |done, _| progress(done, all))?;
        let ample = runs.split_off(count);
        let allowed = busy_percent(&ample[self.reference()]) * AS_BUSY;
        let pairs: Vec<(PolicyKind, f64)> =
            self.policies.iter().copied().zip(ample.iter().map(busy_percent)).collect();
        let needed = on_all_cores_with(
            &pairs,
            |(policy, busy)| Ok::<_, Error>(self.needed_bytes(*policy, *busy, allowed)),
            |done, _| progress(2 * count + done, all),
        )?;
        let rows = self.policies.iter().zip(runs).zip(needed);
        Ok(rows
            .map(|((policy, run), needed_bytes)| ReaderRow { policy: *policy, run, needed_bytes })
            .collect())
    }

    /// The place of the policy that others are compared with: the first that reads ahead.
    pub(super) fn reference(&self) -> usize {
        self.policies.iter().position(|policy| *policy != PolicyKind::None).unwrap_or(0)
    }

    fn check(&self) -> Result<(), Error> {
        Engine::new(Config::new(self.memory_bytes))?;
        let SlowReaders { count, file_bytes, .. } = self.readers;
        let (each, capacity) = (file_bytes.next_multiple_of(1 << 20), self.device.capacity_bytes());
        match (count as u64).checked_mul(each).is_some_and(|bytes| bytes <= capacity) {
            true => Ok(()),
            false => Err(Error::Unfit {
                name: self.device.name().to_owned(),
                reason: format!("has {capacity} bytes, too few for the files; use fewer or smaller ones"),
            }),
        }
    }

    fn serve(&self, policy: PolicyKind, memory_bytes: u64) -> Run {
        let device = || self.device.build(1);
        self.readers.run(&device, memory_bytes, Readahead::of(policy, self.window_bytes_max))
    }

    /// The memory of all readers, of so many steps for each. No engine has less than its least.
    fn memory_of(&self, steps: u64) -> u64 {
        (self.readers.count as u64 * steps * STEP_BYTES).max(Config::MEMORY_BYTES_MIN)
    }

    /// The memory for each reader with which the device is at most `allowed` percent busy. It is `busy` with
    /// the most that is tried.
    fn needed_bytes(&self, policy: PolicyKind, busy: f64, allowed: f64) -> Option<u64> {
        if busy > allowed {
            return None;
        }
        let suffices = |steps: u64| {
            steps == STEPS_MAX || busy_percent(&self.serve(policy, self.memory_of(steps))) <= allowed
        };
        least_steps(STEPS_MAX, suffices).map(|steps| self.memory_of(steps) / self.readers.count as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(policies: &[PolicyKind]) -> ReaderTrial {
        ReaderTrial {
            readers: SlowReaders { count: 60, file_bytes: 512 << 10, bytes_per_s: 1024, has_server: false },
            device: Preset::from_name("nvme").unwrap(),
            memory_bytes: 4 << 20,
            policies: policies.to_vec(),
            window_bytes_max: 128 << 10,
        }
    }

    #[test]
    fn stock_reads_twice_what_adaptive_reads_once() {
        let rows =
            trial(&[PolicyKind::None, PolicyKind::Stock, PolicyKind::Adaptive]).run(|_, _| ()).unwrap();
        let asked = 60 * (512 << 10);
        assert!(rows.iter().all(|row| row.run.read_bytes == asked), "{rows:?}");
        let fetched = |at: usize| rows[at].run.device.read_bytes as f64 / asked as f64;
        assert!((fetched(0), fetched(2)) == (1.0, 1.0), "{} {}", fetched(0), fetched(2));
        assert!(fetched(1) > 1.3, "{}", fetched(1));
        assert!(rows[1].run.wasted_bytes > asked / 4 && rows[2].run.wasted_bytes == 0);
        // A page at a time keeps the device busier than any memory can make good.
        assert!(rows[0].needed_bytes.is_none());
        assert!(rows[2].needed_bytes < rows[1].needed_bytes, "{rows:?}");
    }

    #[test]
    fn a_device_that_is_too_small_is_refused() {
        let mut trial = trial(&[PolicyKind::None]);
        trial.readers.file_bytes = 1 << 50;
        assert!(trial.run(|_, _| ()).unwrap_err().to_string().contains("too few for the files"));
    }
}
