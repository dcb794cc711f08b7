//! A plan's tables and their captions.

use forerun_sim::source::Pace;

use super::Plan;
use crate::outcome::Outcome;
use crate::show;

impl Plan {
    /// Workload, device, budget and pace of the table that begins with `outcome`.
    pub fn caption(&self, outcome: &Outcome) -> String {
        let device = self.devices.iter().find(|device| device.name() == outcome.device);
        let title = device.map_or("", |device| device.title());
        let mut text = format!(
            "{} on {}, {} of memory\n  {}: {title}\n",
            outcome.workload,
            outcome.device,
            mebibytes(outcome.memory_bytes),
            outcome.device,
        );
        let Some(workload) = self.workloads.iter().find(|workload| workload.name() == outcome.workload)
        else {
            return text;
        };
        let scan = workload.scan();
        let writes = match scan.write_count {
            0 => String::new(),
            count => format!(" and {count} writes"),
        };
        text += &format!(
            "  {}: {} reads{writes} by {}, {}",
            outcome.workload,
            scan.read_count,
            threads(scan.thread_count()),
            describe(self.settings.pace_of(workload)),
        );
        text
    }

    /// All tables of `outcomes`, and the meaning of their columns.
    pub fn tables(&self, outcomes: &[Outcome]) -> String {
        let tables = show::tables(outcomes, |outcome| self.caption(outcome));
        format!("{tables}\n{}", show::legend(self.settings.repeat as usize))
    }
}

fn threads(count: usize) -> String {
    if count == 1 { "one thread".to_owned() } else { format!("{count} threads") }
}

/// A pace in words.
pub fn describe(pace: Pace) -> String {
    match pace {
        Pace::Recorded => "at their recorded times (an open loop)".to_owned(),
        Pace::Closed => "each when the last one of its thread is done (a closed loop)".to_owned(),
        Pace::Dependencies { think_percent } => {
            format!("each after those it depends on, with {think_percent} % of the recorded think time")
        }
    }
}

fn mebibytes(bytes: u64) -> String {
    match bytes % (1 << 20) {
        0 => format!("{} MiB", bytes >> 20),
        _ => format!("{bytes} bytes"),
    }
}
