//! The aims of Forerun in each row, and those that it missed.

use super::comparison::Comparison;
use super::contender::Contender;
use super::outcome::Summary;

/// The share of the best speed of other mounts of the store.
const BEST_SHARE_MIN: f64 = 0.95;
/// The share of the best speed of other mounts of a local directory.
const LOCAL_BEST_SHARE_MIN: f64 = 0.9;
/// Processors that are busy for this share of the time set the bound.
const BUSY_SHARE_MIN: f64 = 0.9;

/// The bytes that Forerun may fetch.
#[derive(Clone, Copy)]
enum Bytes {
    /// For each byte touched.
    Touched(f64),
    /// For each byte that `--policy none` fetches.
    None(f64),
}

/// The speed that Forerun should reach by itself, in MB/s. Rows without one only have to be as fast
/// as other mounts.
const PACES: [(&str, f64); 10] = [
    ("load-file", 300.0),
    // 1.07 GB in 4.5 s.
    ("load-file-2", 238.0),
    ("load-file-4", 238.0),
    ("every-5th", 150.0),
    ("memmap", 340.0),
    ("quarters-threads", 340.0),
    ("quarters-processes", 340.0),
    ("slices", 300.0),
    // Nine tenths of a latency of 10 ms and a transfer of 4 MiB, each slice.
    ("slices-random", 184.0),
    // 300 MB in 7 s; a latency and a transfer for each file take 6 s.
    ("loader", 42.9),
];

/// The limit of all other rows.
const TOUCHED_MAX: Bytes = Bytes::Touched(1.05);
const BYTES: [(&str, Bytes); 6] = [
    ("every-5th", Bytes::Touched(1.15)),
    ("touches", Bytes::Touched(1.2)),
    ("parquet", Bytes::None(1.3)),
    ("duckdb", Bytes::None(1.3)),
    ("zip-members", Bytes::None(1.3)),
    ("h5-chunks", Bytes::None(1.3)),
];

fn of_row<T: Copy>(aims: &[(&str, T)], row: &str) -> Option<T> {
    aims.iter().find(|(name, _)| *name == row).map(|(_, aim)| *aim)
}

/// The aims that Forerun missed in `group`, as sentences. The machine has `processors` processors.
pub(super) fn missed((row, each): &Comparison, is_local: bool, processors: f64) -> Vec<String> {
    let of = |contender| each.iter().find(|(one, _)| *one == contender).map(|(_, summary)| summary);
    let seconds = |contender| of(contender).and_then(|summary| summary.seconds);
    let Some(own) = of(Contender::Forerun).filter(|own| own.unavailable.is_none()) else {
        return Vec::new();
    };
    let mut missed = Vec::new();
    let others = [Contender::None, Contender::Window, Contender::Rclone];
    let best = others.into_iter().filter_map(seconds).reduce(f64::min);
    let share_min = if is_local { LOCAL_BEST_SHARE_MIN } else { BEST_SHARE_MIN };
    match (own.seconds, best) {
        (Some(own), Some(best)) if best < share_min * own => {
            missed.push(format!("{own:.2} s, another mount {best:.2} s"));
        }
        (None, Some(best)) => missed.push(format!("no result, another mount {best:.2} s")),
        _ => {}
    }
    if !is_local {
        let pace = of_row(&PACES, row.name);
        missed.extend(pace.and_then(|pace| slow(own, pace, processors)));
        let bytes = of_row(&BYTES, row.name).unwrap_or(TOUCHED_MAX);
        missed.extend(greedy(own, bytes, of(Contender::None).and_then(|none| none.fetched_ratio)));
    }
    missed.into_iter().map(|miss| format!("{}: {miss}.", row.name)).collect()
}

fn slow(own: &Summary, mb_s: f64, processors: f64) -> Option<String> {
    let seconds_max = own.touched? as f64 / 1e6 / mb_s;
    let seconds = own.seconds?;
    (seconds > seconds_max && !is_bound_by_processors(own, processors))
        .then(|| format!("{seconds:.2} s, the aim is {seconds_max:.2} s"))
}

/// Whether the processors set the bound of `summary`.
pub(in crate::demo) fn is_bound_by_processors(summary: &Summary, processors: f64) -> bool {
    let busy: f64 = [summary.store, summary.mount, summary.program].into_iter().flatten().sum();
    summary.seconds.is_some_and(|seconds| busy >= BUSY_SHARE_MIN * processors * seconds)
}

fn greedy(own: &Summary, bytes: Bytes, none: Option<f64>) -> Option<String> {
    let max = match bytes {
        Bytes::Touched(ratio) => ratio,
        Bytes::None(ratio) => ratio * none?,
    };
    let ratio = own.fetched_ratio?;
    (ratio > max).then(|| format!("{ratio:.2} bytes fetched for each byte touched, the aim is {max:.2}"))
}

#[cfg(test)]
mod tests {
    use super::super::catalog::{PROGRAMS, Program};
    use super::*;

    fn summary(seconds: f64, fetched_ratio: f64) -> Summary {
        Summary {
            seconds: Some(seconds),
            touched: Some(1_020_000_000),
            fetched_ratio: Some(fetched_ratio),
            store: Some(0.1 * seconds),
            mount: Some(0.1 * seconds),
            program: Some(0.1 * seconds),
            ..Summary::default()
        }
    }

    fn check(row: &str, each: &[(Contender, Summary)], is_local: bool, expected: &[&str]) {
        let group = (Program::parse(row).unwrap(), each.to_vec());
        assert_eq!(missed(&group, is_local, 2.0), expected);
    }

    #[test]
    fn each_aim_can_be_missed() {
        let forerun = |seconds, ratio| (Contender::Forerun, summary(seconds, ratio));
        let none = (Contender::None, summary(2.9, 1.0));
        check("memmap", &[forerun(2.9, 1.05), none.clone()], false, &[]);
        check("memmap", &[forerun(3.1, 1.0)], false, &["memmap: 3.10 s, the aim is 3.00 s."]);
        let ratio = "memmap: 1.06 bytes fetched for each byte touched, the aim is 1.05.";
        check("memmap", &[forerun(2.9, 1.06)], false, &[ratio]);
        let other = (Contender::Window, summary(2.7, 1.0));
        check(
            "memmap",
            &[forerun(2.9, 1.0), other.clone()],
            false,
            &["memmap: 2.90 s, another mount 2.70 s."],
        );
        check("memmap", &[forerun(2.9, 1.0), other], true, &[]);
        let slow = (Contender::Forerun, Summary { seconds: None, ..summary(0.0, 1.0) });
        check("memmap", &[slow, none.clone()], false, &["memmap: no result, another mount 2.90 s."]);
        let ratio = "parquet: 1.31 bytes fetched for each byte touched, the aim is 1.30.";
        check("parquet", &[forerun(2.9, 1.31), none.clone()], false, &[ratio]);
        check("parquet", &[forerun(2.9, 1.29), none], false, &[]);
    }

    #[test]
    fn a_pace_that_the_processors_bound_is_no_miss() {
        let busy = Summary { program: Some(6.0), ..summary(3.5, 1.0) };
        check("memmap", &[(Contender::Forerun, busy)], false, &[]);
    }

    #[test]
    fn aims_name_rows_that_exist() {
        let names = PACES.map(|(name, _)| name).into_iter().chain(BYTES.map(|(name, _)| name));
        for name in names {
            assert!(PROGRAMS.iter().any(|row| row.name == name), "{name}");
        }
    }
}
