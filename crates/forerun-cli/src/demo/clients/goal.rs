//! The goals of the server, and those that it missed.

use super::client_rows::ClientRow;
use super::client_table::by;
use crate::demo::programs::{Contender, Summary, is_bound_by_processors};

/// The share of the speed of the direct client that is as fast: medians of three runs differ by less.
const SAME_SPEED_SHARE: f64 = 0.95;

/// The speed that a client should reach through the server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Goal {
    /// In MB/s, unless the processors set the bound.
    MbS(f64),
    /// As fast as the same client of the store.
    NotSlower,
    /// A multiple of the speed of the same client of the store.
    TimesDirect(f64),
    /// A share of the speed through the mount.
    MountShare(f64),
    /// No speed: the bytes that the store sends are the goal.
    Bytes,
}

/// The goals that the server missed in `row`, as sentences. The machine has `processors` processors.
pub(super) fn missed(row: &ClientRow, each: &[(Contender, Summary)], processors: f64) -> Vec<String> {
    let of = |contender| each.iter().find(|(one, _)| *one == contender).map(|(_, summary)| summary);
    let Some(own) = of(row.contenders[0]).filter(|own| own.unavailable.is_none()) else {
        return Vec::new();
    };
    let than = |contender: Contender, share: f64| {
        let (own, other) = (own.seconds?, of(contender)?.seconds?);
        let miss =
            || format!("{own:.2} s, and {} {other:.2} s; the goal is {share} of its speed", by(contender));
        (own * share > other).then(miss)
    };
    let speed = match row.goal {
        Goal::MbS(mb_s) => slow(own, mb_s, processors),
        Goal::NotSlower => than(Contender::Direct, SAME_SPEED_SHARE),
        Goal::TimesDirect(times) => than(Contender::Direct, times),
        Goal::MountShare(share) => than(Contender::Forerun, share),
        Goal::Bytes => None,
    };
    // A contender that is too slow, for one, makes the comparison void. No goal compares with rclone.
    let compared = each.iter().filter(|(contender, _)| *contender != Contender::RcloneNfs);
    let without_result = compared.filter(|(_, summary)| summary.seconds.is_none());
    let without_result = without_result.map(|(contender, _)| format!("no result of {}", by(*contender)));
    let sent = own.fetched_ratio.zip(row.sent_max).filter(|(sent, max)| sent > max);
    let sent =
        sent.map(|(sent, max)| format!("{sent:.2} bytes sent for each byte asked, the goal is {max:.2}"));
    let misses = without_result.chain(speed).chain(sent);
    misses.map(|miss| format!("{}: {miss}.", row.client.name)).collect()
}

fn slow(own: &Summary, goal: f64, processors: f64) -> Option<String> {
    let mb_s = own.mb_s()?;
    (mb_s < goal && !is_bound_by_processors(own, processors))
        .then(|| format!("{mb_s:.0} MB/s, the goal is {goal:.0}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(seconds: f64) -> Summary {
        let (seconds, touched) = (Some(seconds), Some(1_000_000_000));
        Summary { seconds, touched, fetched_ratio: Some(1.0), program: Some(0.5), ..Summary::default() }
    }

    fn check(row: &str, own: Summary, others: &[(Contender, f64)], expected: &[&str]) {
        let row = ClientRow::parse(row).unwrap();
        let others = others.iter().map(|(contender, seconds)| (*contender, summary(*seconds)));
        let each: Vec<_> = std::iter::once((row.contenders[0], own)).chain(others).collect();
        assert_eq!(missed(&row, &each, 2.0), expected);
    }

    #[test]
    fn each_goal_can_be_missed() {
        let direct = [(Contender::Direct, 5.0)];
        check("get-object", summary(3.0), &direct, &[]);
        check("get-object", summary(4.0), &direct, &["get-object: 250 MB/s, the goal is 320."]);
        check("aws-cp", summary(5.2), &direct, &[]);
        let slower = "aws-cp: 5.40 s, and direct 5.00 s; the goal is 0.95 of its speed.";
        check("aws-cp", summary(5.4), &direct, &[slower]);
        check("rclone-copy", summary(1.9), &direct, &[]);
        let slower = "rclone-copy: 2.10 s, and direct 5.00 s; the goal is 2.5 of its speed.";
        check("rclone-copy", summary(2.1), &direct, &[slower]);
        let mount = [(Contender::Forerun, 1.0)];
        check("backward", summary(1.1), &mount, &[]);
        let slower = "backward: 1.20 s, and `forerun mount` 1.00 s; the goal is 0.9 of its speed.";
        check("backward", summary(1.2), &mount, &[slower]);
        let nodes = [(Contender::Nodes, 1.0)];
        check("dask-parquet-twice", summary(9.0), &nodes, &[]);
        let sent = Summary { fetched_ratio: Some(1.01), ..summary(1.0) };
        let more = "dask-parquet-twice: 1.01 bytes sent for each byte asked, the goal is 1.00.";
        check("dask-parquet-twice", sent, &nodes, &[more]);
        let sent = Summary { fetched_ratio: Some(1.03), ..summary(1.0) };
        let more = "get-object-32: 1.03 bytes sent for each byte asked, the goal is 1.02.";
        check("get-object-32", sent.clone(), &direct, &[more]);
        check("aws-cp", sent, &direct, &[]);
    }

    #[test]
    fn a_contender_without_a_result_misses_the_goal() {
        let none = Summary { seconds: None, ..summary(1.0) };
        let mount = [(Contender::Forerun, 1.0)];
        check("backward", none.clone(), &mount, &["backward: no result of `forerun serve`."]);
        check("get-object", none.clone(), &[], &["get-object: no result of `forerun serve`."]);
        let each = [(Contender::Served, summary(1.0)), (Contender::Forerun, none.clone())];
        let row = ClientRow::parse("backward").unwrap();
        assert_eq!(missed(&row, &each, 2.0), ["backward: no result of `forerun mount`."]);
        let each = [
            (Contender::Served, summary(1.0)),
            (Contender::RcloneNfs, none),
            (Contender::Forerun, summary(1.0)),
        ];
        assert!(missed(&ClientRow::parse("nfs-cat").unwrap(), &each, 2.0).is_empty());
    }

    #[test]
    fn a_rate_that_the_processors_bound_is_no_miss_and_a_missing_client_has_no_goal() {
        check("get-object", Summary { program: Some(7.9), ..summary(4.0) }, &[], &[]);
        let missing = Summary { unavailable: Some("no boto3".to_owned()), ..Summary::default() };
        check("get-object", missing, &[], &[]);
    }
}
