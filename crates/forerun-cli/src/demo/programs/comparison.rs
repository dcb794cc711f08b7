//! The table of programs, as Markdown and as JSON.

use std::time::Duration;

use forerun_lab::export::json::Json;

use super::catalog::Program;
use super::contender::Contender;
use super::outcome::Summary;
use crate::demo::link::Shape;
use crate::demo::markdown;
use crate::demo::processors::doubt;

/// A row and its contenders.
pub(in crate::demo) type Comparison = (Program, Vec<(Contender, Summary)>);

const HEADER: [&str; 11] = [
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
];

/// The table in Markdown, and the missed aims.
pub(super) fn report(groups: &[Comparison], missed: &[String], time_max: Duration) -> String {
    let rows: Vec<_> = groups.iter().flat_map(|group| lines(group, time_max)).collect();
    let taken = groups.iter().flat_map(|(_, each)| each).map(|(_, one)| one.taken).fold(0.0, f64::max);
    let is_wrong = groups.iter().flat_map(|(_, each)| each).any(|(_, one)| one.is_wrong);
    format!(
        "\n{}\nMedians of seconds; the most of bytes and memory. `store s`, `mount s` and `program s` are \
         processor seconds. {}\n{}{}",
        markdown::render(&HEADER.map(str::to_owned), &rows),
        if is_wrong { "SOME PROGRAMS READ WRONG BYTES." } else { "Every program read the right bytes." },
        misses(missed),
        doubt(taken)
    )
}

/// The list of missed aims.
pub(in crate::demo) fn misses(missed: &[String]) -> String {
    if missed.is_empty() {
        return String::new();
    }
    let lines: String = missed.iter().map(|miss| format!("* {miss}\n")).collect();
    format!("\nForerun missed these aims:\n\n{lines}")
}

/// The seconds, or the reason why there are none.
pub(in crate::demo) fn seconds_cell(summary: &Summary, time_max: Duration) -> String {
    match (&summary.unavailable, summary.seconds) {
        (Some(why), _) => why.clone(),
        _ if summary.has_failed => "FAILED".to_owned(),
        _ if summary.is_wrong => "WRONG BYTES".to_owned(),
        (None, Some(seconds)) => format!("{seconds:.2}"),
        (None, None) => format!("> {}", time_max.as_secs()),
    }
}

fn lines((row, each): &Comparison, time_max: Duration) -> Vec<Vec<String>> {
    // The local copy is no contender: nothing can be as fast.
    let best = each
        .iter()
        .filter(|(contender, _)| *contender != Contender::Copy)
        .filter_map(|(_, summary)| summary.seconds)
        .reduce(f64::min);
    let line = |index: usize, contender: Contender, summary: &Summary| {
        let title = if index == 0 { row.title.to_owned() } else { String::new() };
        let show = |value: Option<f64>, precision: usize| {
            value.map(|value| format!("{value:.precision$}")).unwrap_or_default()
        };
        let is_link_used = summary.fetched_ratio.is_some();
        let share = summary.mb_s().filter(|_| is_link_used);
        let share = share.map(|mb_s| mb_s * 1e8 / Shape::default().total_bytes_per_s as f64);
        vec![
            title,
            contender.title().to_owned(),
            seconds_cell(summary, time_max),
            show(summary.seconds.zip(best).map(|(own, best)| own / best), 2),
            show(summary.mb_s(), if summary.mb_s() < Some(10.0) { 1 } else { 0 }),
            share.map(|share| format!("{share:.0} %")).unwrap_or_default(),
            show(summary.fetched_ratio, 2),
            show(summary.memory_peak.map(|bytes| bytes as f64 / 1e6), 0),
            show(summary.store, 2),
            show(summary.mount, 2),
            show(summary.program, 2),
        ]
    };
    each.iter().enumerate().map(|(index, (contender, summary))| line(index, *contender, summary)).collect()
}

/// All figures, in whole bytes and microseconds.
pub(in crate::demo) fn json(groups: &[Comparison]) -> String {
    let mut json = Json::default();
    let microseconds = |seconds: Option<f64>| seconds.map(|seconds| (seconds * 1e6).round() as u64);
    let each = |json: &mut Json, (contender, summary): &(Contender, Summary)| {
        json.object(|json| {
            json.key("contender").text(contender.name());
            json.key("microseconds").maybe(microseconds(summary.seconds));
            json.key("touched_bytes").maybe(summary.touched);
            let fetched = summary.fetched_ratio.zip(summary.touched);
            json.key("fetched_bytes")
                .maybe(fetched.map(|(ratio, touched)| (ratio * touched as f64).round() as u64));
            json.key("memory_peak_bytes").maybe(summary.memory_peak);
            json.key("store_microseconds").maybe(microseconds(summary.store));
            json.key("mount_microseconds").maybe(microseconds(summary.mount));
            json.key("program_microseconds").maybe(microseconds(summary.program));
            json.key("wrong").number(u64::from(summary.is_wrong));
            json.key("failed").number(u64::from(summary.has_failed));
            if let Some(why) = &summary.unavailable {
                json.key("unavailable").text(why);
            }
        });
    };
    json.object(|json| {
        json.key("programs").array(groups, |json, (row, contenders)| {
            json.object(|json| {
                json.key("name").text(row.name);
                json.key("title").text(row.title);
                json.key("contenders").array(contenders, each);
            });
        });
    });
    json.finish()
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
        let text = report(&[group()], &[], TIME_MAX);
        let lines: Vec<_> = text.lines().filter(|line| line.starts_with('|')).map(cells).collect();
        let title = "numpy memmap, one copy of 1 GiB";
        assert_eq!(
            lines[2],
            [title, "Forerun", "2.50", "1.00", "400", "100 %", "1.05", "300", "0.50", "1.25", "2.00"]
        );
        assert_eq!(lines[3][..4], ["", "rclone", "5.00", "2.00"]);
        assert_eq!(lines[4][..4], ["", "`--policy none`", "> 60", ""]);
        assert_eq!(lines[5][..6], ["", "the local copy", "0.50", "0.20", "2000", ""]);
        assert!(text.contains("Every program read the right bytes."), "{text}");
    }

    #[test]
    fn failures_wrong_bytes_and_a_busy_machine_are_told() {
        let mut group = group();
        group.1[1].1.is_wrong = true;
        group.1[0].1.has_failed = true;
        group.1[0].1.taken = 1.5;
        let text = report(&[group], &[], TIME_MAX);
        for part in ["SOME PROGRAMS READ WRONG BYTES", "| WRONG BYTES |", "|      FAILED |"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.contains("up to 1.5 processors"), "{text}");
    }

    #[test]
    fn the_table_says_what_the_machine_lacks() {
        let mut group = group();
        group.1 = vec![(
            Contender::Forerun,
            Summary { unavailable: Some("no erofs".to_owned()), ..Summary::default() },
        )];
        assert!(report(&[group], &[], TIME_MAX).contains("| no erofs |"));
    }

    #[test]
    fn missed_aims_are_listed() {
        let text = report(&[group()], &["memmap: 9.00 s, the aim is 3.00 s.".to_owned()], TIME_MAX);
        assert!(text.contains("missed these aims:\n\n* memmap: 9.00 s"), "{text}");
        assert!(!report(&[group()], &[], TIME_MAX).contains("missed"));
    }

    #[test]
    fn json_has_every_figure() {
        let text = json(&[group()]);
        for part in [
            "\"name\": \"memmap\"",
            "\"contender\": \"forerun\"",
            "\"microseconds\": 2500000",
            "\"microseconds\": null",
            "\"fetched_bytes\": 1050000000",
            "\"mount_microseconds\": 1250000",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
