//! The table of clients in Markdown.

use std::time::Duration;

use crate::demo::markdown;
use crate::demo::processors::doubt;
use crate::demo::programs::{Comparison, Contender, Summary, misses, seconds_cell};

const HEADER: [&str; 10] = [
    "client",
    "by",
    "seconds",
    "MB/s",
    "× direct",
    "sent ÷ asked",
    "peak MB",
    "store s",
    "server s",
    "client s",
];

/// The table, and the missed goals.
pub(super) fn report(groups: &[Comparison], missed: &[String], time_max: Duration) -> String {
    let rows: Vec<_> = groups.iter().flat_map(|group| lines(group, time_max)).collect();
    let summaries = || groups.iter().flat_map(|(_, each)| each).map(|(_, one)| one);
    let taken = summaries().map(|one| one.taken).fold(0.0, f64::max);
    let is_wrong = summaries().any(|one| one.is_wrong);
    format!(
        "\n{}\nMedians of seconds; the most of bytes and memory. `store s`, `server s` and `client s` are processor \
         seconds. {}\n{}{}",
        markdown::render(&HEADER.map(str::to_owned), &rows),
        if is_wrong { "SOME CLIENTS READ WRONG BYTES." } else { "Every client read the right bytes." },
        misses(missed),
        doubt(taken)
    )
}

fn lines((client, each): &Comparison, time_max: Duration) -> Vec<Vec<String>> {
    let direct = each.iter().find(|(contender, _)| *contender == Contender::Direct);
    let direct = direct.and_then(|(_, summary)| summary.seconds);
    let show = |value: Option<f64>, precision: usize| {
        value.map(|value| format!("{value:.precision$}")).unwrap_or_default()
    };
    let line = |index: usize, contender: Contender, summary: &Summary| {
        let by = if contender == Contender::Forerun { "`forerun mount`" } else { contender.title() };
        vec![
            if index == 0 { client.title.to_owned() } else { String::new() },
            by.to_owned(),
            seconds_cell(summary, time_max),
            show(summary.mb_s(), if summary.mb_s() < Some(10.0) { 1 } else { 0 }),
            show(summary.seconds.zip(direct).map(|(own, direct)| direct / own), 2),
            show(summary.fetched_ratio, 2),
            show(summary.memory_peak.map(|bytes| bytes as f64 / 1e6), 0),
            show(summary.store, 2),
            show(summary.mount, 2),
            show(summary.program, 2),
        ]
    };
    each.iter().enumerate().map(|(index, (contender, summary))| line(index, *contender, summary)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::client_rows::ClientRow;
    use super::*;

    #[test]
    fn clients_are_compared_with_those_of_the_store() {
        let summary = |seconds: f64| Summary {
            seconds: Some(seconds),
            touched: Some(1_000_000_000),
            fetched_ratio: Some(1.0),
            memory_peak: Some(300_000_000),
            store: Some(0.5),
            mount: Some(1.25),
            program: Some(2.0),
            ..Summary::default()
        };
        let direct = Summary { memory_peak: None, mount: None, ..summary(10.0) };
        let each = vec![(Contender::Served, summary(2.5)), (Contender::Direct, direct)];
        let lack = Summary { unavailable: Some("rclone is not installed".to_owned()), ..Summary::default() };
        let groups = [
            (ClientRow::parse("get-object").unwrap().client, each),
            (ClientRow::parse("rclone-copy").unwrap().client, vec![(Contender::Served, lack)]),
        ];
        let text = report(&groups, &["get-object: slow.".to_owned()], Duration::from_secs(60));
        let cells = |line: &str| -> Vec<String> {
            line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
        };
        let lines: Vec<_> = text.lines().filter(|line| line.starts_with('|')).map(cells).collect();
        let expected = ["`forerun serve`", "2.50", "400", "4.00", "1.00", "300", "0.50", "1.25", "2.00"];
        assert_eq!(lines[2][1..], expected);
        assert_eq!(lines[3], ["", "direct", "10.00", "100", "1.00", "1.00", "", "0.50", "", "2.00"]);
        assert_eq!(lines[4][2], "rclone is not installed");
        assert!(text.contains("missed these aims:\n\n* get-object: slow."), "{text}");
        assert!(text.contains("Every client read the right bytes."), "{text}");
    }
}
