//! The table of block devices, and the goals of Forerun.

use super::disk_reads::DiskReads;
use super::nbd_goal::NbdGoal;
use super::nbd_run::NbdRun;
use crate::demo::link::Shape;
use crate::demo::markdown::{self, figure};
use crate::demo::median::median;
use crate::demo::process::BlockServer;
use crate::demo::processors::doubt;

const HEADER: [&str; 8] =
    ["reads", "by", "seconds", "MB/s", "× plain", "fetched ÷ read", "requests", "goal of Forerun"];

/// All servers of a row.
#[derive(Clone, Debug)]
pub(super) struct NbdComparison {
    reads: DiskReads,
    each: Vec<(BlockServer, NbdSummary)>,
}

/// The runs of one server: the median of its time, and the most of everything else.
#[derive(Clone, Copy, Debug)]
struct NbdSummary {
    /// None if a run read wrong bytes.
    seconds: Option<f64>,
    read_bytes: u64,
    fetched_bytes: u64,
    request_count: u64,
    processors_taken: f64,
}

impl NbdComparison {
    /// The runs of each of `servers`.
    pub(super) fn of(reads: DiskReads, servers: &[BlockServer], runs: &[Vec<NbdRun>]) -> NbdComparison {
        let each = servers.iter().zip(runs).map(|(server, runs)| (*server, NbdSummary::of(runs))).collect();
        NbdComparison { reads, each }
    }

    /// Whether all bytes were right, and Forerun reaches its goals.
    pub(super) fn holds(&self, shape: Shape) -> bool {
        let is_right = self.each.iter().all(|(_, one)| one.seconds.is_some());
        is_right && self.reads.goals().iter().all(|goal| self.reaches(*goal, shape) == Some(true))
    }

    /// None if `goal` compares with wrong bytes.
    fn reaches(&self, goal: NbdGoal, shape: Shape) -> Option<bool> {
        let own = self.right(BlockServer::Forerun)?;
        let others = self.each.iter().filter(|(server, _)| *server != BlockServer::Forerun);
        let best = others.filter_map(|(_, one)| one.seconds).reduce(f64::min);
        Some(match goal {
            NbdGoal::Plain(least) => self.right(BlockServer::Curl)?.seconds? >= least * own.seconds?,
            NbdGoal::Best(least) => best? >= least * own.seconds?,
            NbdGoal::Bytes(most) => {
                own.fetched_bytes as f64 <= most * self.right(BlockServer::Curl)?.fetched_bytes as f64
            }
            NbdGoal::Link(least) => own.mb_s()? * 1e6 >= least * shape.total_bytes_per_s as f64,
        })
    }

    /// The runs of `server`, if all bytes were right.
    fn right(&self, server: BlockServer) -> Option<NbdSummary> {
        let found = self.each.iter().find(|(one, _)| *one == server).map(|(_, summary)| *summary);
        found.filter(|summary| summary.seconds.is_some())
    }

    fn lines(&self, shape: Shape) -> Vec<Vec<String>> {
        let plain = self.right(BlockServer::Curl).and_then(|plain| plain.seconds);
        let line = |(server, one): &(BlockServer, NbdSummary)| {
            let is_own = *server == BlockServer::Forerun;
            vec![
                if is_own { self.reads.title().to_owned() } else { String::new() },
                server.title().to_owned(),
                one.seconds.map_or_else(|| "WRONG BYTES".to_owned(), |seconds| format!("{seconds:.3}")),
                figure(one.mb_s(), 1),
                figure(plain.zip(one.seconds).map(|(plain, own)| plain / own), 2),
                figure(Some(one.fetched_ratio()).filter(|_| !self.reads.is_cached()), 2),
                if self.reads.is_cached() { String::new() } else { one.request_count.to_string() },
                if is_own { self.verdict(shape) } else { String::new() },
            ]
        };
        self.each.iter().map(line).collect()
    }

    /// The goals, each with its outcome.
    fn verdict(&self, shape: Shape) -> String {
        let one = |goal: &NbdGoal| {
            let outcome = if self.reaches(*goal, shape) == Some(true) { "pass" } else { "FAIL" };
            format!("{}: {outcome}", goal.title())
        };
        self.reads.goals().iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

impl NbdSummary {
    fn of(runs: &[NbdRun]) -> NbdSummary {
        let most = |value: fn(&NbdRun) -> u64| runs.iter().map(value).max().unwrap_or_default();
        let seconds = median(runs.iter().map(|run| run.elapsed.as_secs_f64()).collect());
        NbdSummary {
            seconds: runs.iter().all(|run| run.wrong_reads == 0).then_some(seconds),
            read_bytes: most(|run| run.read_bytes),
            fetched_bytes: most(|run| run.fetched_bytes),
            request_count: most(|run| run.request_count),
            processors_taken: runs.iter().map(|run| run.processors_taken).fold(0.0, f64::max),
        }
    }

    fn mb_s(&self) -> Option<f64> {
        Some(self.read_bytes as f64 / 1e6 / self.seconds?.max(1e-9))
    }

    fn fetched_ratio(&self) -> f64 {
        self.fetched_bytes as f64 / self.read_bytes.max(1) as f64
    }
}

/// The table, and what is to be known of it.
pub(super) fn report(comparisons: &[NbdComparison], shape: Shape) -> String {
    let rows: Vec<_> = comparisons.iter().flat_map(|one| one.lines(shape)).collect();
    let all = || comparisons.iter().flat_map(|one| &one.each).map(|(_, summary)| summary);
    let verdict = match comparisons.iter().any(|one| one.reads == DiskReads::Copy) {
        _ if all().any(|one| one.seconds.is_none()) => "SOME READS RETURNED WRONG BYTES.",
        true => "Every byte but those of the copy was checked and right.",
        false => "Every byte was checked and right.",
    };
    format!(
        "\n{shape}.\n\n{}\n\
         Medians of seconds; the most of bytes and requests. `plain` is nbdkit without filters. {verdict}\n{}",
        markdown::render(&HEADER.map(str::to_owned), &rows),
        doubt(all().map(|one| one.processors_taken).fold(0.0, f64::max))
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn run(milliseconds: u64, fetched_bytes: u64) -> NbdRun {
        NbdRun {
            elapsed: Duration::from_millis(milliseconds),
            read_bytes: 1_000_000,
            fetched_bytes,
            request_count: 3,
            wrong_reads: 0,
            processors_taken: 0.0,
        }
    }

    fn comparison(reads: DiskReads, each: &[NbdRun]) -> NbdComparison {
        NbdComparison::of(reads, reads.servers(), &each.iter().map(|run| vec![*run]).collect::<Vec<_>>())
    }

    #[test]
    fn forerun_is_compared_with_plain_and_with_the_best() {
        let shape = Shape::default();
        let [fast, slow, plain] = [run(90, 1_000_000), run(110, 1_000_000), run(2000, 1_000_000)];
        assert!(comparison(DiskReads::Backward, &[fast, plain, slow, plain]).holds(shape));
        assert!(!comparison(DiskReads::Backward, &[slow, plain, plain, plain]).holds(shape), "18 × plain");
        assert!(
            !comparison(DiskReads::Backward, &[slow, run(9000, 0), fast, plain]).holds(shape),
            "not the best"
        );
        assert!(comparison(DiskReads::Cached, &[slow, run(100, 0)]).holds(shape));
        assert!(!comparison(DiskReads::Cached, &[slow, fast]).holds(shape));
        let random = |own| comparison(DiskReads::Random, &[own, plain, plain, plain]).holds(shape);
        assert!(random(run(2100, 1_100_000)));
        assert!(!random(run(2110, 1_000_000)) && !random(run(2000, 1_100_001)));
        // 1 MB in 2.7 ms is a little less than 0.9 of 400 MB/s.
        assert!(comparison(DiskReads::Copy, &[run(2, 0), plain]).holds(shape));
        assert!(!comparison(DiskReads::Copy, &[run(3, 0), plain]).holds(shape));
    }

    #[test]
    fn runs_with_wrong_bytes_do_not_count() {
        let [wrong, right] = [1, 0].map(|wrong_reads| NbdRun { wrong_reads, ..run(90, 0) });
        let shape = Shape::default();
        let verdict = |own, plain, other| {
            let rows = comparison(DiskReads::Backward, &[own, plain, other, run(2000, 0)]);
            assert!(!rows.holds(shape));
            assert!(report(std::slice::from_ref(&rows), shape).contains("SOME READS RETURNED WRONG BYTES."));
            rows.lines(shape)
        };
        let lines = verdict(wrong, run(2000, 0), right);
        assert_eq!(lines[0][2..5], ["WRONG BYTES", "", ""]);
        assert_eq!(lines[0][7], "1 × best: FAIL, 20 × plain: FAIL");
        let lines = verdict(right, NbdRun { wrong_reads: 1, ..run(2000, 0) }, right);
        assert_eq!(lines[0][7], "1 × best: pass, 20 × plain: FAIL");
        assert!(lines.iter().all(|line| line[4].is_empty()), "no × plain: {lines:?}");
        let faster = NbdRun { elapsed: Duration::from_millis(1), ..wrong };
        assert_eq!(verdict(right, run(2000, 0), faster)[0][7], "1 × best: pass, 20 × plain: pass");
    }

    #[test]
    fn bytes_that_nobody_checked_are_not_called_right() {
        let copy = comparison(DiskReads::Copy, &[run(2, 0), run(9, 0)]);
        let text = report(&[copy], Shape::default());
        assert!(text.contains("Every byte but those of the copy was checked and right."), "{text}");
    }

    #[test]
    fn lines_have_medians_and_verdicts() {
        let runs = [9, 10, 50].map(|milliseconds| run(milliseconds, 2_000_000)).to_vec();
        let plain = vec![run(400, 1_000_000)];
        let runs = [runs, plain.clone(), plain.clone(), plain];
        let comparison = NbdComparison::of(DiskReads::Backward, DiskReads::Backward.servers(), &runs);
        let line = &comparison.lines(Shape::default())[0];
        let verdict = "1 × best: pass, 20 × plain: pass";
        assert_eq!(line[..], ["4 KiB backward", "forerun", "0.010", "100.0", "40.00", "2.00", "3", verdict]);
    }
}
