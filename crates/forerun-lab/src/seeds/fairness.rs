//! Seed 004: five clients of a file server, and who is done first.
//!
//! Each writes a file, reads it back, and goes on to the next. While the files fit in the server's
//! memory, they share the network. When they do not, they share the disk, and the elevator of Linux
//! 2.4 stays with the client that it serves.
//= seed 004

use std::convert::Infallible;
use std::ops::Range;

use forerun_policies::PolicyKind;

use super::scene::seconds;
use super::{Claim, Findings, data};
use crate::sharing::{CLIENTS, FILE_BYTES, FileClients, Serving};
use crate::table::{Column, Table};
use crate::work::on_all_cores;

const FILES_EACH: u64 = 10;
/// The most bytes that the network carries.
const NETWORK_BYTES_PER_S: f64 = 100e6 / 8.0;
const OURS_POLICY: PolicyKind = PolicyKind::Adaptive;

impl Serving {
    fn name(self) -> String {
        match self {
            Serving::Linux(elevator) => format!("Linux 2.4, {elevator}"),
            Serving::Forerun(_) => "Forerun, on the disk".to_owned(),
            Serving::OverLinux(_, elevator) => format!("Forerun, over a file system, {elevator}"),
        }
    }

    /// Why it is not as fair as it should be, and not as fast.
    fn whys(self) -> (&'static str, &'static str) {
        match self {
            Serving::Forerun(_) => (
                "",
                "each write of 8 KiB is a disk write: Forerun delays no writes, so a server on a bare disk needs \
    a write cache",
            ),
            Serving::OverLinux(_, "linus") => {
                ("", "perhaps: the elevator below still sorts demand reads among all the writes")
            }
            _ => (
                "",
                "perhaps: the file below serves one request at a time, so that its disk has nothing to sort",
            ),
        }
    }
}

/// One row: who serves, the machine's memory in MB and what of it files can have, and the luck of
/// the starts. The document does not tell the memory of the kernel, its tables and the daemons.
type Setup = (Serving, u64, u64, u64);

const CELLS: [Setup; 19] = [
    (Serving::Linux("linus"), 256, 208, 1),
    (Serving::Linux("linus"), 256, 208, 2),
    (Serving::Linux("linus"), 256, 208, 3),
    (Serving::Linux("linus"), 128, 80, 1),
    (Serving::Linux("linus"), 128, 80, 2),
    (Serving::Linux("linus"), 128, 80, 3),
    (Serving::Linux("linus"), 128, 80, 4),
    (Serving::Linux("linus"), 128, 80, 5),
    (Serving::Linux("linus"), 128, 104, 1),
    (Serving::Linux("linus"), 128, 104, 2),
    (Serving::Linux("linus"), 128, 104, 3),
    (Serving::Linux("deadline"), 128, 80, 1),
    (Serving::Linux("cfq"), 128, 80, 1),
    (Serving::Linux("bfq"), 128, 80, 1),
    (Serving::Forerun(OURS_POLICY), 128, 80, 1),
    (Serving::OverLinux(OURS_POLICY, "linus"), 128, 80, 1),
    (Serving::OverLinux(OURS_POLICY, "deadline"), 128, 80, 1),
    (Serving::OverLinux(OURS_POLICY, "cfq"), 128, 80, 1),
    (Serving::OverLinux(OURS_POLICY, "bfq"), 128, 80, 1),
];

/// Of [`CELLS`]: ample memory, the elevator of the time, its successors, and Forerun.
const AMPLE: Range<usize> = 0..3;
const OLD: Range<usize> = 3..8;
const NEW: Range<usize> = 11..14;
const OURS: Range<usize> = 14..19;

/// The times at which the first and the last were done, in seconds.
type Finish = (f64, f64);

/// J1 and J2.
pub(super) fn clients() -> Findings {
    let finishes = on_all_cores(&CELLS, |cell| Ok::<_, Infallible>(finish(*cell))).unwrap_or_default();
    let mut table = Table::new([
        Column::word("server"),
        Column::number("memory MB"),
        Column::number("for files MB"),
        Column::number("run"),
        Column::number("first s"),
        Column::number("last s"),
        Column::number("first / last"),
        Column::number("MB/s"),
    ]);
    let mut row = |name: String, memory: &str, files: String, run: String, (first, last): Finish| {
        table.row([
            name,
            memory.to_owned(),
            files,
            run,
            format!("{first:.0}"),
            format!("{last:.0}"),
            format!("{:.2}", first / last),
            format!("{:.1}", rate(&(first, last))),
        ]);
    };
    for figure in data::rows("s004_fairness") {
        let finish = (figure.number("first_finished"), figure.number("last_finished"));
        let name = format!("document: {}", figure.text("kernel"));
        row(name, figure.text("memory_mb"), String::new(), figure.text("run").to_owned(), finish);
    }
    for ((server, memory, files, seed), finish) in CELLS.iter().zip(&finishes) {
        row(server.name(), &memory.to_string(), files.to_string(), seed.to_string(), *finish);
    }
    let network_s = (2 * CLIENTS * FILES_EACH * FILE_BYTES) as f64 / NETWORK_BYTES_PER_S;
    let bound = "bound: the network".to_owned();
    row(bound, "", String::new(), String::new(), (network_s, network_s));
    Findings { tables: vec![table], claims: claims(&finishes) }
}

fn claims(finishes: &[Finish]) -> Vec<Claim> {
    let ratio = |finish: &Finish| finish.0 / finish.1;
    let mean = |cells: Range<usize>, each: &dyn Fn(&Finish) -> f64| {
        finishes[cells.clone()].iter().map(each).sum::<f64>() / cells.len() as f64
    };
    let (ample, old) = (mean(AMPLE, &ratio), mean(OLD, &ratio));
    let fair = finishes[NEW].iter().map(ratio).fold(f64::INFINITY, f64::min);
    let mut claims = vec![
        Claim::within("ample memory: first / last, 0.95 in the document", ample, 0.85, 1.0, ""),
        Claim::within("ample memory: MB/s, 11.6 in the document", mean(AMPLE, &rate), 11.0, 12.0, ""),
        Claim::within("128 MB, linus: first / last, 0.19 to 0.42 in the document", old, 0.0, 0.6, ""),
        Claim::within("128 MB, linus: first / last, of that with ample memory", old / ample, 0.0, 0.7, ""),
        Claim::within(
            "128 MB, linus: MB/s, in the document",
            mean(OLD, &rate),
            5.8,
            9.8,
            "perhaps: the model's file system keeps every file whole and reads no tables, so that it seeks \
    less than ext2",
        ),
        Claim::within("128 MB, deadline, cfq and bfq: first / last, at its worst", fair, 0.9, 1.0, ""),
    ];
    for ((server, ..), finish) in CELLS[OURS].iter().zip(&finishes[OURS]) {
        let name = server.name();
        let (why_unfair, why_slow) = server.whys();
        claims.push(Claim::within(
            format!("128 MB, {name}: first / last"),
            ratio(finish),
            0.9,
            1.0,
            why_unfair,
        ));
        claims.push(Claim::within(format!("128 MB, {name}: MB/s"), rate(finish), 9.8, 12.0, why_slow));
    }
    claims
}

/// MB/s, of 2^20 bytes as in the document, of all clients together until the last is done.
fn rate((_, last): &Finish) -> f64 {
    ((2 * CLIENTS * FILES_EACH * FILE_BYTES) >> 20) as f64 / last
}

fn finish((server, _, files_mb, seed): Setup) -> Finish {
    let clients = FileClients { files_each: FILES_EACH, memory_bytes: files_mb << 20, seed };
    let run = clients.run(server).0;
    let ends = run.clients.iter().map(|client| client.finished_ns);
    (seconds(ends.clone().min().unwrap_or(0)), seconds(ends.max().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_the_document() {
        assert_eq!(format!("{:.1}", rate(&(245.0, 258.0))), "11.6");
    }

    #[test]
    fn ranges_name_the_cells_that_they_should() {
        assert!(
            CELLS[AMPLE]
                .iter()
                .all(|(server, memory, ..)| (*server, *memory) == (Serving::Linux("linus"), 256))
        );
        assert!(CELLS[OLD].iter().all(|cell| (cell.0, cell.1, cell.2) == (Serving::Linux("linus"), 128, 80)));
        assert!(
            CELLS[NEW].iter().all(|(server, ..)| matches!(server, Serving::Linux(name) if *name != "linus"))
        );
        assert!(CELLS[OURS].iter().all(|(server, ..)| !matches!(server, Serving::Linux(_))));
        assert_eq!(OURS.end, CELLS.len());
    }
}
