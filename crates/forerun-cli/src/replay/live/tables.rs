//! Tables of a live replay.

use forerun_lab::live::Faith;
use forerun_lab::outcome::Outcome;
use forerun_lab::replay::{Plan, describe};
use forerun_lab::show;
use forerun_lab::table::{Column, Table};
use forerun_sim::source::Pace;

use super::Played;
use crate::units::show_size;

impl Played {
    /// The tables of outcomes, with their precision.
    pub(in crate::replay) fn tables(&self, plan: &Plan) -> String {
        let repeat = plan.settings.repeat;
        let margin = match repeat {
            1 => "Each row is one run: it has no margin, and no difference is marked.".to_owned(),
            _ => format!(
                "Time is the mean of n = {repeat} runs in turns, ± its 99.7 % margin (Student's t). * differs from none,\n\
                 and = does not differ from the fastest (<), by paired t-tests on the logarithms with Holm's correction."
            ),
        };
        format!(
            "{}\n{margin}\nTimes are real, and leave out the lookup of names and sizes. Local files may stay in the system's cache\n\
             from run to run. The best possible time of real storage is not known. MB are 10^6 bytes.\n\n{}\n\
             A read is late if it was made after the recording and the answers before it had it due. If many reads\n\
             are late, this machine is too slow for the pace, and the times do not measure the storage.\n",
            show::tables(&self.outcomes, |outcome| self.caption(plan, outcome)),
            self.lateness(),
        )
    }

    fn caption(&self, plan: &Plan, outcome: &Outcome) -> String {
        let memory = show_size(outcome.memory_bytes);
        let title = format!("{} on {}, live, {memory} of memory", outcome.workload, outcome.device);
        let Some(workload) = plan.workloads.iter().find(|workload| workload.name() == outcome.workload)
        else {
            return title;
        };
        let scan = workload.scan();
        let writes = match scan.write_count {
            0 => String::new(),
            count => format!("; {count} writes are not made"),
        };
        let pace = plan.settings.pace_of(workload);
        let kept = match pace {
            Pace::Dependencies { .. } => format!(" ({} accesses depend on others)", scan.dependent_count),
            _ => String::new(),
        };
        let threads = match scan.thread_count() {
            1 => "one thread".to_owned(),
            count => format!("{count} threads"),
        };
        format!(
            "{title}\n  {}: {} reads by {threads}, {}{kept}{writes}",
            outcome.workload,
            scan.read_count,
            describe(pace),
        )
    }

    fn lateness(&self) -> Table {
        let number = |name: &str| Column::number(name).below("us late");
        let mut table = Table::new([
            Column::word("recording"),
            Column::word("policy"),
            number("half"),
            number("99 %"),
            number("all"),
            Column::number("> 1 ms late"),
        ]);
        for (outcome, faiths) in self.outcomes.iter().zip(&self.faiths) {
            let worst = |of: fn(&Faith) -> u64| faiths.iter().map(of).max().unwrap_or_default() as f64 / 1e3;
            let share = faiths.iter().map(Faith::late_share).fold(0.0, f64::max);
            table.row([
                outcome.workload.clone(),
                outcome.policy.clone(),
                format!("{:.0}", worst(|faith| faith.lateness.quantile(500))),
                format!("{:.0}", worst(|faith| faith.lateness.quantile(990))),
                format!("{:.0}", worst(|faith| faith.lateness_ns_max)),
                format!("{:.2} %", 100.0 * share),
            ]);
        }
        table
    }
}
