//! Tables of programs and their contenders.

use std::time::Duration;

use super::catalog::Program;
use super::contender::Contender;
use super::outcome::Summary;
use crate::demo::link::Shape;
use crate::demo::markdown::{self, figure};
use crate::demo::processors::doubt;

/// A row and its contenders.
pub(super) type Comparison = (Program, Vec<(Contender, Summary)>);

/// The contenders of a row.
type ContenderSummaries = [(Contender, Summary)];

/// A table of programs and their contenders.
#[derive(Clone, Copy, Debug)]
pub(in crate::demo) struct ProgramTable {
    /// The first cell names the things that are measured.
    pub(in crate::demo) header: &'static [&'static str],
    /// The name of a contender.
    pub(in crate::demo) by: fn(Contender) -> &'static str,
    /// The cells between those of seconds and of bytes, for one of several summaries.
    pub(in crate::demo) speed: fn(&Summary, &ContenderSummaries) -> Vec<String>,
}

/// The table of `bench programs`.
pub(super) const PROGRAM_TABLE: ProgramTable = ProgramTable {
    header: &[
        "program",
        "by",
        "seconds",
        "× best",
        "MB/s",
        "share",
        "fetched ÷ touched",
        "peak MB",
        "store s",
        "mount s",
        "program s",
    ],
    by: Contender::title,
    speed: speed_beside_mounts,
};

impl ProgramTable {
    /// The table in Markdown, and the missed aims.
    pub(super) fn report(&self, groups: &[Comparison], missed: &[String], time_max: Duration) -> String {
        let header: Vec<_> = self.header.iter().map(|&cell| cell.to_owned()).collect();
        let rows: Vec<_> = groups.iter().flat_map(|group| self.lines(group, time_max)).collect();
        let taken = summaries(groups).map(|one| one.taken).fold(0.0, f64::max);
        format!(
            "\n{}\nMedians of seconds; the most of bytes and memory. The last three columns are processor seconds. \
             {}\n{}{}{}",
            markdown::render(&header, &rows),
            self.verdict(groups),
            self.lacks(groups),
            misses(missed),
            doubt(taken)
        )
    }

    fn verdict(&self, groups: &[Comparison]) -> String {
        let name = self.header[0];
        if summaries(groups).any(|one| one.is_wrong) {
            format!("SOME {}S READ WRONG BYTES.", name.to_uppercase())
        } else if summaries(groups).all(|one| one.seconds.is_some()) {
            format!("Every {name} read the right bytes.")
        } else {
            format!("Every {name} that finished read the right bytes.")
        }
    }

    /// The programs and contenders that the machine lacks, as a line.
    fn lacks(&self, groups: &[Comparison]) -> String {
        let names: Vec<_> = groups.iter().flat_map(|group| self.lacking(group)).collect();
        match names.len() {
            0 => String::new(),
            1 => format!("1 {} did not run: {}.\n", self.header[0], names[0]),
            count => format!("{count} {}s did not run: {}.\n", self.header[0], names.join(", ")),
        }
    }

    /// The program if it did not run by any contender, or else its runs by those that the machine lacks.
    fn lacking(&self, (row, each): &Comparison) -> Vec<String> {
        let lacking = || each.iter().filter(|(_, one)| one.unavailable.is_some());
        if lacking().count() == each.len() {
            return vec![row.name.to_owned()];
        }
        lacking().map(|(contender, _)| format!("{} by {}", row.name, (self.by)(*contender))).collect()
    }

    fn lines(&self, (row, each): &Comparison, time_max: Duration) -> Vec<Vec<String>> {
        let line = |(index, (contender, summary)): (usize, &(Contender, Summary))| {
            let title = if index == 0 { row.title } else { "" };
            let mut cells =
                vec![title.to_owned(), (self.by)(*contender).to_owned(), seconds_cell(summary, time_max)];
            cells.extend((self.speed)(summary, each));
            cells.extend([
                figure(summary.fetched_ratio, 2),
                figure(summary.memory_peak.map(|bytes| bytes as f64 / 1e6), 0),
                figure(summary.store, 2),
                figure(summary.mount, 2),
                figure(summary.program, 2),
            ]);
            cells
        };
        each.iter().enumerate().map(line).collect()
    }
}

fn summaries(groups: &[Comparison]) -> impl Iterator<Item = &Summary> {
    groups.iter().flat_map(|(_, each)| each).map(|(_, summary)| summary)
}

/// The list of missed aims.
fn misses(missed: &[String]) -> String {
    if missed.is_empty() {
        return String::new();
    }
    let lines: String = missed.iter().map(|miss| format!("* {miss}\n")).collect();
    format!("\nForerun missed these aims:\n\n{lines}")
}

/// The seconds, or the reason why there are none.
fn seconds_cell(summary: &Summary, time_max: Duration) -> String {
    match (&summary.unavailable, summary.seconds) {
        (Some(why), _) => why.clone(),
        _ if summary.has_failed => "FAILED".to_owned(),
        _ if summary.is_wrong => "WRONG BYTES".to_owned(),
        (None, Some(seconds)) => format!("{seconds:.2}"),
        (None, None) => format!("> {}", time_max.as_secs()),
    }
}

pub(in crate::demo) fn mb_s_cell(summary: &Summary) -> String {
    figure(summary.mb_s(), if summary.mb_s() < Some(10.0) { 1 } else { 0 })
}

fn speed_beside_mounts(summary: &Summary, each: &ContenderSummaries) -> Vec<String> {
    // The local copy is no contender: nothing can be as fast.
    let mounts = each.iter().filter(|(contender, _)| *contender != Contender::Copy);
    let best = mounts.filter_map(|(_, summary)| summary.seconds).reduce(f64::min);
    let is_link_used = summary.fetched_ratio.is_some();
    let share = summary.mb_s().filter(|_| is_link_used);
    let share = share.map(|mb_s| mb_s * 1e8 / Shape::default().total_bytes_per_s as f64);
    vec![
        figure(summary.seconds.zip(best).map(|(own, best)| own / best), 2),
        mb_s_cell(summary),
        share.map(|share| format!("{share:.0} %")).unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME_MAX: Duration = Duration::from_secs(60);

    fn group() -> Comparison {
        let summary = |seconds: f64| Summary {
            seconds: Some(seconds),
            touched: Some(1_000_000_000),
            fetched_ratio: Some(1.05),
            memory_peak: Some(300_000_000),
            store: Some(0.5),
            mount: Some(1.25),
            program: Some(2.0),
            ..Summary::default()
        };
        let copy =
            Summary { fetched_ratio: None, store: None, mount: None, memory_peak: None, ..summary(0.5) };
        let slow = Summary { seconds: None, touched: None, ..summary(0.0) };
        let each = vec![
            (Contender::Forerun, summary(2.5)),
            (Contender::Rclone, summary(5.0)),
            (Contender::None, slow),
            (Contender::Copy, copy),
        ];
        (Program::parse("memmap").unwrap(), each)
    }

    fn cells(line: &str) -> Vec<&str> {
        line.trim_matches('|').split('|').map(str::trim).collect()
    }

    #[test]
    fn contenders_are_compared_with_the_best_that_mounts() {
        let text = PROGRAM_TABLE.report(&[group()], &[], TIME_MAX);
        let lines: Vec<_> = text.lines().filter(|line| line.starts_with('|')).map(cells).collect();
        let title = "numpy memmap, one copy of 1 GiB";
        assert_eq!(
            lines[2],
            [title, "Forerun", "2.50", "1.00", "400", "100 %", "1.05", "300", "0.50", "1.25", "2.00"]
        );
        assert_eq!(lines[3][..4], ["", "rclone", "5.00", "2.00"]);
        assert_eq!(lines[4][..4], ["", "`--policy none`", "> 60", ""]);
        assert_eq!(lines[5][..6], ["", "the local copy", "0.50", "0.20", "2000", ""]);
        assert!(text.contains("Every program that finished read the right bytes."), "{text}");
        let mut right = group();
        right.1.remove(2);
        let text = PROGRAM_TABLE.report(&[right], &[], TIME_MAX);
        assert!(text.contains("Every program read the right bytes."), "{text}");
    }

    #[test]
    fn failures_wrong_bytes_and_a_busy_machine_are_told() {
        let mut group = group();
        group.1[1].1.is_wrong = true;
        group.1[0].1.has_failed = true;
        group.1[0].1.taken = 1.5;
        let text = PROGRAM_TABLE.report(&[group], &[], TIME_MAX);
        for part in ["SOME PROGRAMS READ WRONG BYTES", "| WRONG BYTES |", "|      FAILED |"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.contains("up to 1.5 processors"), "{text}");
    }

    #[test]
    fn programs_that_the_machine_lacks_are_told_and_not_called_right() {
        let unavailable = Summary { unavailable: Some("no erofs".to_owned()), ..Summary::default() };
        let lack = |row| (Program::parse(row).unwrap(), vec![(Contender::Forerun, unavailable.clone())]);
        let mut right = group();
        right.1.truncate(2);
        let text = PROGRAM_TABLE.report(&[right.clone(), lack("erofs")], &[], TIME_MAX);
        assert!(text.contains("| no erofs |"), "{text}");
        assert!(text.contains("finished read the right bytes.\n1 program did not run: erofs.\n"), "{text}");
        let text = PROGRAM_TABLE.report(&[right.clone(), lack("erofs"), lack("tar")], &[], TIME_MAX);
        assert!(text.contains("\n2 programs did not run: erofs, tar.\n"), "{text}");
        right.1[1].1 = unavailable;
        let text = PROGRAM_TABLE.report(&[right], &[], TIME_MAX);
        assert!(text.contains("\n1 program did not run: memmap by rclone.\n"), "{text}");
    }

    #[test]
    fn missed_aims_are_listed() {
        let text =
            PROGRAM_TABLE.report(&[group()], &["memmap: 9.00 s, the aim is 3.00 s.".to_owned()], TIME_MAX);
        assert!(text.contains("missed these aims:\n\n* memmap: 9.00 s"), "{text}");
        assert!(!PROGRAM_TABLE.report(&[group()], &[], TIME_MAX).contains("missed"));
    }
}
