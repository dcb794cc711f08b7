//! `forerun trace info`.

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use forerun_lab::export::json::Json;
use forerun_trace::{Format, Summary};

use super::recording::{RecordingInput, reading};
use crate::print::show;
use crate::units::show_size;

/// Show the sizes, order and times of recordings
#[derive(Debug, clap::Args)]
pub(super) struct InfoCommand {
    /// The recordings
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Print JSON instead of words
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    input: RecordingInput,
}

/// A recording that was read to its end.
struct Summarized {
    path: PathBuf,
    format: Format,
    summary: Summary,
}

impl InfoCommand {
    pub(super) fn run(self) -> Result<(), Box<dyn Error>> {
        let paths: Vec<&Path> = self.files.iter().map(PathBuf::as_path).collect();
        let progress = reading("trace info", &paths);
        let mut recordings = Vec::new();
        for path in paths {
            let mut reader = self.input.open(path, &progress)?;
            let mut summary = Summary::default();
            for access in reader.by_ref() {
                summary.add(&access?);
            }
            let recording = Summarized { path: path.to_owned(), format: reader.format(), summary };
            if !self.json {
                let blank = if recordings.is_empty() { "" } else { "\n" };
                show(&format!("{blank}{}", recording.words()))?;
            }
            recordings.push(recording);
        }
        drop(progress);
        if self.json {
            let mut json = Json::default();
            json.array(&recordings, Summarized::write);
            show(&json.finish())?;
        }
        Ok(())
    }
}

impl Summarized {
    fn words(&self) -> String {
        let summary = &self.summary;
        let mut text = format!("{}\n", self.path.display());
        let moved = summary.reads + summary.writes;
        let mut row = |name: &str, value: String| {
            writeln!(text, "  {name:<13} {value}").expect("a string takes all text");
        };
        row("format", self.format.to_string());
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

    fn write(json: &mut Json, recording: &Summarized) {
        let summary = &recording.summary;
        let (service_count, service_ns) = summary.serviced;
        let sizes: Vec<(&u64, &u64)> = summary.sizes.iter().collect();
        json.object(|json| {
            json.key("path").text(&recording.path.display().to_string());
            json.key("format").text(&recording.format.to_string());
            json.key("record_count").number(summary.accesses);
            json.key("read_count").number(summary.reads);
            json.key("read_bytes").number(summary.read_bytes);
            json.key("write_count").number(summary.writes);
            json.key("written_bytes").number(summary.written_bytes);
            json.key("distinct_bytes").number(summary.distinct_bytes());
            json.key("duration_ns").number(summary.duration_ns);
            json.key("thread_count").number(summary.threads() as u64);
            json.key("file_count").number(summary.files() as u64);
            json.key("sequential_count").number(summary.sequential);
            json.key("partial_count").number(summary.partial);
            json.key("service_count").number(service_count);
            json.key("service_ns").number(service_ns);
            json.key("sizes").array(&sizes, |json, (bytes_max, count)| {
                json.object(|json| {
                    json.key("bytes_max").number(**bytes_max);
                    json.key("count").number(**count);
                });
            });
        });
    }
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.1}", 100.0 * part as f64 / whole.max(1) as f64)
}
