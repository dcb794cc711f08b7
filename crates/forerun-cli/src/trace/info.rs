//! `forerun trace info`.

use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;

use forerun_trace::Summary;

use super::RecordingInput;
use crate::print::show;
use crate::units::show_size;

/// Show the sizes, order and times of recordings
#[derive(Debug, clap::Args)]
pub(super) struct InfoCommand {
    /// The recordings
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    input: RecordingInput,
}

impl InfoCommand {
    pub(super) fn run(self) -> Result<(), Box<dyn Error>> {
        for (at, path) in self.files.iter().enumerate() {
            let mut reader = self.input.open(path)?;
            let mut summary = Summary::default();
            for access in reader.by_ref() {
                summary.add(&access?);
            }
            let blank = if at > 0 { "\n" } else { "" };
            let text = describe(&summary);
            show(&format!("{blank}{}\n  format        {}\n{text}", path.display(), reader.format()))?;
        }
        Ok(())
    }
}

fn describe(summary: &Summary) -> String {
    let mut text = String::new();
    let moved = summary.reads + summary.writes;
    let mut row = |name: &str, value: String| {
        writeln!(text, "  {name:<13} {value}").expect("a string takes all text");
    };
    row("records", summary.accesses.to_string());
    row("reads", format!("{}, {} bytes", summary.reads, summary.read_bytes));
    row("writes", format!("{}, {} bytes", summary.writes, summary.written_bytes));
    row("others", (summary.accesses - moved).to_string());
    row("distinct", format!("{} bytes", summary.distinct_bytes()));
    row("duration", format!("{:.6} s", summary.duration_ns as f64 / 1e9));
    row("threads", summary.threads().to_string());
    row("files", summary.files().to_string());
    row(
        "sequential",
        format!("{} % begin where the last in their file ended", percent(summary.sequential, moved)),
    );
    row("partial", format!("{} % got fewer bytes than requested", percent(summary.partial, moved)));
    if let (count @ 1.., sum) = summary.serviced {
        row("service time", format!("{:.3} ms on average, of {count}", sum as f64 / count as f64 / 1e6));
    }
    for (at, (size, count)) in summary.sizes.iter().enumerate() {
        let name = if at == 0 { "sizes" } else { "" };
        row(name, format!("<= {:<10} {count:>9} {:>6} %", show_size(*size), percent(*count, moved)));
    }
    text
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.1}", 100.0 * part as f64 / whole.max(1) as f64)
}
