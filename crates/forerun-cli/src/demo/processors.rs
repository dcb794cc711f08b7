//! Processor time used by other programs during a measurement.
//!
//! On a busy machine a rate says little about the mount; a report can tell that.

use std::time::Instant;

/// The unit of the kernel's processor times, per second: the same on every architecture of Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// The load of other programs on the processors above which rates are in doubt.
pub(crate) const PROCESSORS_TAKEN_MAX: f64 = 0.2;

/// Processor time used until a moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Processors {
    at: Instant,
    all_ticks: u64,
    own_ticks: u64,
}

impl Processors {
    /// The time until now; `own` are the processes of the measurement.
    pub(crate) fn now(own: &[u32]) -> Option<Processors> {
        let all_ticks = busy_ticks(&std::fs::read_to_string("/proc/stat").ok()?)?;
        let own_ticks = own
            .iter()
            .map(|id| process_ticks(&std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?))
            .sum::<Option<u64>>()?;
        Some(Processors { at: Instant::now(), all_ticks, own_ticks })
    }

    /// The average number of processors that other programs kept busy since `earlier`.
    pub(crate) fn used_by_others_since(&self, earlier: &Processors) -> f64 {
        let all = self.all_ticks.saturating_sub(earlier.all_ticks);
        let own = self.own_ticks.saturating_sub(earlier.own_ticks);
        let seconds = self.at.duration_since(earlier.at).as_secs_f64().max(1e-3);
        all.saturating_sub(own) as f64 / TICKS_PER_SECOND / seconds
    }
}

/// Ticks of all processes together, from `/proc/stat`: user, nice, system, and time stolen by other
/// virtual machines. Time in interrupts belongs to no process, and is left out.
fn busy_ticks(stat: &str) -> Option<u64> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line.split_whitespace().filter_map(|ticks| ticks.parse().ok()).collect();
    Some(ticks.get(..3)?.iter().sum::<u64>() + ticks.get(7).copied().unwrap_or_default())
}

/// Seconds of processor time that the process `id` has used.
pub(crate) fn seconds_of(id: u32) -> Option<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    process_ticks(&stat).map(|ticks| ticks as f64 / TICKS_PER_SECOND)
}

/// User and system ticks of a process and of the children that it has waited for, from its
/// `/proc/PID/stat`.
fn process_ticks(stat: &str) -> Option<u64> {
    // The name, in parentheses, may contain anything; the later fields do not.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().skip(11).take(4).map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// A remark if other programs disturbed the measurement.
pub(crate) fn doubt(processors_taken: f64) -> String {
    if processors_taken <= PROCESSORS_TAKEN_MAX {
        return String::new();
    }
    format!(
        "Other programs kept up to {processors_taken:.1} processors busy meanwhile, so the rates are too low: \
         end them and measure again.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_processor_times_of_the_kernel() {
        let stat = "cpu  100 20 3 9999 50 7 8 4000 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(busy_ticks(stat), Some(4123));
        assert_eq!(busy_ticks("intr 5\n"), None);
        let process = "42 (a) b) S 1 42 42 0 -1 4194560 1 2 3 4 700 50 9 8 20 0 1 0 100";
        assert_eq!(process_ticks(process), Some(767));
    }

    #[test]
    fn others_are_all_but_our_own() {
        let at = Instant::now();
        let earlier = Processors { at, all_ticks: 1000, own_ticks: 100 };
        let later =
            Processors { at: at + std::time::Duration::from_secs(2), all_ticks: 1400, own_ticks: 200 };
        assert!((later.used_by_others_since(&earlier) - 1.5).abs() < 1e-9);
        assert!(Processors::now(&[std::process::id()]).is_some());
        assert!(Processors::now(&[u32::MAX]).is_none());
    }
}
