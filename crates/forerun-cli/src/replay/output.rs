//! The outputs: tables on the terminal, and files for other programs.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use forerun_lab::export::{self, Figure, figures_csv, figures_json};
use forerun_lab::outcome::Outcome;
use forerun_lab::replay::{Plan, Settings, describe};
use forerun_lab::report::{Imprint, Report};
use forerun_lab::timeline::Timeline;

use crate::new_file::{check_folder, check_output};
use crate::print::show as print;
use crate::progress::Progress;
use crate::units::show_size;

/// The outputs that are numbers.
#[derive(Debug, clap::Args)]
pub(crate) struct NumbersOutput {
    /// Write every run's numbers as JSON to FILE, or - for the terminal instead of the tables
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write every run's numbers as CSV to FILE, or - for the terminal instead of the tables
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

impl NumbersOutput {
    fn paths(&self) -> impl Iterator<Item = &Path> {
        [&self.json, &self.csv].into_iter().flatten().map(PathBuf::as_path)
    }

    /// Checks the outputs before the work is done.
    ///
    /// # Errors
    /// Two outputs go to the same place, one goes over a recording, or one to a place where no file
    /// can be.
    pub(crate) fn check(&self, traces: &[PathBuf]) -> Result<(), String> {
        check_all(self.paths(), traces)
    }

    /// Writes the `tables`, unless another output goes to the terminal, and the JSON and CSV.
    pub(crate) fn write(
        &self,
        tables: impl FnOnce() -> String,
        json: impl FnOnce() -> String,
        csv: impl FnOnce() -> String,
    ) -> Result<(), Box<dyn Error>> {
        if !self.paths().any(is_terminal) {
            print(&tables())?;
        }
        if let Some(path) = &self.json {
            put(path, &json())?;
        }
        if let Some(path) = &self.csv {
            put(path, &csv())?;
        }
        Ok(())
    }

    /// The outputs of `outcomes`.
    pub(crate) fn write_outcomes(
        &self,
        plan: &Plan,
        outcomes: &[Outcome],
        timelines: &[(String, Timeline)],
        tables: impl FnOnce() -> String,
    ) -> Result<(), Box<dyn Error>> {
        let json = || export::json(outcomes, &plan.settings, timelines);
        self.write(tables, json, || export::csv(outcomes, &plan.settings))
    }

    /// The outputs of rows that are not of runs.
    pub(crate) fn write_figures(
        &self,
        rows: &[Vec<(&'static str, Figure)>],
        tables: impl FnOnce() -> String,
    ) -> Result<(), Box<dyn Error>> {
        self.write(tables, || figures_json(rows), || figures_csv(rows))
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct ReportOutput {
    #[command(flatten)]
    numbers: NumbersOutput,

    /// Write a page of charts to FILE, or - for the terminal instead of the tables
    ///
    /// The page works without a network and without scripts. Its charts of single runs are of the first
    /// device, budget and seed. It has the date, which SOURCE_DATE_EPOCH sets, in seconds since 1970.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl ReportOutput {
    /// Checks the outputs before the work is done.
    ///
    /// # Errors
    /// As [`NumbersOutput::check`].
    pub(super) fn check(&self, traces: &[PathBuf]) -> Result<(), String> {
        check_all(self.numbers.paths().chain(self.html.as_deref()), traces)
    }

    pub(super) fn write(&self, plan: &Plan, outcomes: &[Outcome]) -> Result<(), Box<dyn Error>> {
        let wants_timelines = self.html.is_some() || self.numbers.json.is_some();
        let timelines = if wants_timelines { timelines(plan)? } else { Vec::new() };
        self.write_numbers(plan, outcomes, &timelines, || plan.tables(outcomes))?;
        if let Some(path) = &self.html {
            put(path, &page(plan, outcomes, &timelines))?;
        }
        Ok(())
    }

    /// As [`NumbersOutput::write_outcomes`]; no tables if the page goes to the terminal.
    pub(super) fn write_numbers(
        &self,
        plan: &Plan,
        outcomes: &[Outcome],
        timelines: &[(String, Timeline)],
        tables: impl FnOnce() -> String,
    ) -> Result<(), Box<dyn Error>> {
        let is_page_shown = self.html.as_deref().is_some_and(is_terminal);
        let tables = || if is_page_shown { String::new() } else { tables() };
        self.numbers.write_outcomes(plan, outcomes, timelines, tables)
    }
}

fn check_all<'a>(outputs: impl Iterator<Item = &'a Path>, traces: &[PathBuf]) -> Result<(), String> {
    let traces: Vec<&Path> = traces.iter().map(PathBuf::as_path).collect();
    let mut before: Vec<&Path> = Vec::new();
    for path in outputs {
        check_output(path, &traces)?;
        check_folder(path)?;
        if before.contains(&path) {
            return Err(format!("two outputs go to {}; give each a file of its own", path.display()));
        }
        before.push(path);
    }
    Ok(())
}

fn timelines(plan: &Plan) -> Result<Vec<(String, Timeline)>, forerun_lab::error::Error> {
    let progress = Progress::steps("timelines", 0);
    plan.timelines(|done, all| progress.set(done, all))
}

/// When, by which version and by which command the page is made.
fn imprint() -> Imprint {
    let seconds = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse().ok());
    let date = seconds.map_or_else(SystemTime::now, |seconds| UNIX_EPOCH + Duration::from_secs(seconds));
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| typed(&word.to_string_lossy())).collect();
    Imprint {
        date: httpdate::fmt_http_date(date),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: format!("forerun {}", words.join(" ")),
    }
}

/// An argument as a shell takes it.
fn typed(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./,:=@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn page(plan: &Plan, outcomes: &[Outcome], timelines: &[(String, Timeline)]) -> String {
    let mut report = Report::new("forerun replay", outcomes, timelines)
        .imprint(imprint())
        .parameter("seeds", &seeds(&plan.settings))
        .parameter("cost of a read", &format!("{} us", plan.settings.read_cost_ns as f64 / 1e3));
    for workload in &plan.workloads {
        let pace = describe(plan.settings.pace_of(workload));
        report = report.parameter(&format!("pace of {}", workload.name()), &pace);
    }
    if let Some(bytes) = plan.settings.window_bytes_max {
        report = report.parameter("largest window", &show_size(bytes));
    }
    report.html()
}

fn seeds(settings: &Settings) -> String {
    match settings.repeat {
        1 => settings.seed.to_string(),
        _ => format!("{} to {}", settings.seed, settings.seed + settings.repeat - 1),
    }
}

fn is_terminal(path: &Path) -> bool {
    path == Path::new("-")
}

/// Writes `text` to the file at `path`, or to the terminal if that is `-`.
pub(crate) fn put(path: &Path, text: &str) -> Result<(), Box<dyn Error>> {
    if is_terminal(path) {
        return Ok(print(text)?);
    }
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_where_a_shell_needs_it() {
        assert_eq!(
            ["a.frt", "s3,demo", "", "two words", "it's", "$x"].map(typed),
            ["a.frt", "s3,demo", "''", "'two words'", "'it'\\''s'", "'$x'"]
        );
    }
}
