//! Seed 000: one process reads at random from a file of 100 MB, eight times 20 MB.
//!
//! The file lies at the beginning of the disk of [`daily`](super::daily), with its elevator and
//! plug; memory is 300, 80 or 40 MB. Places are drawn with repetition, so the later a stage, the
//! more of the file is in memory. Nothing is calibrated. With reads of 64 KiB the document's disk
//! took 24 ms for each, which no model of one disk explains. There only the order of the policies
//! can be compared.
//= seed 000

mod measured;
mod trial;

use super::{Claim, Findings};
use crate::table::{Column, Table};
use measured::Measured;
use trial::{POLICIES, ROOMY_4K, ROOMY_64K, SMALL_4K, SMALL_64K, TIGHT_64K};

/// E1.
pub(super) fn roomy_4k() -> Findings {
    let mut measured = Measured::new(ROOMY_4K);
    for (at, policy) in POLICIES.iter().enumerate().skip(1) {
        let (document, seen) = measured.ratios[at];
        let what = format!("300M.4k, {} / stock, {document:.3} in the document", policy.name);
        measured.claim(Claim::within(what, seen, document - 0.03, document + 0.03, ""));
    }
    measured.claim_ours(measured.ratios[4].1, NOT_SEEN);
    measured.findings
}

/// E2.
pub(super) fn roomy_64k() -> Findings {
    let mut measured = Measured::new(ROOMY_64K);
    measured.claim_order();
    measured.claim_ours(measured.ratios[4].1, NOT_SEEN);
    measured.findings
}

/// E3.
pub(super) fn tight_64k() -> Findings {
    let mut measured = Measured::new(TIGHT_64K);
    measured.claim_order();
    measured.claim_ours(measured.ratios[4].1, NOT_WORTH_IT);
    measured.findings
}

/// E4: less memory than file, with no gain to be had.
pub(super) fn small() -> Findings {
    let mut all = Findings::default();
    for case in [SMALL_64K, SMALL_4K] {
        let mut measured = Measured::new(case);
        for (at, policy) in POLICIES.iter().enumerate().skip(1) {
            let (document, seen) = measured.ratios[at];
            let what = format!("{}, {} / stock, {document:.3} in the document", case.name, policy.name);
            measured.claim(Claim::within(what, seen, 0.0, 1.02, ""));
        }
        measured.claim_ours(1.0, NOT_WORTH_IT);
        all.tables.append(&mut measured.findings.tables);
        all.claims.append(&mut measured.findings.claims);
    }
    all
}

/// E5: the least and the most that adaptive readahead makes of random reads.
pub(super) fn range() -> Findings {
    let mut table = Table::new([
        Column::word("case"),
        Column::number("slowest").below("document, adaptive / stock"),
        Column::number("fastest").below("document, adaptive / stock"),
        Column::number("slowest").below("simulated, adaptive / stock"),
        Column::number("fastest").below("simulated, adaptive / stock"),
    ]);
    let (mut slowest, mut fastest) = (0.0_f64, f64::INFINITY);
    for case in [ROOMY_64K, TIGHT_64K, SMALL_64K, ROOMY_4K, SMALL_4K] {
        let totals = POLICIES.map(|policy| case.kernel(&policy).total());
        let ratios = |totals: [f64; 5]| {
            let ratios = totals.map(|total| total / totals[0]);
            (
                ratios[1..].iter().copied().fold(0.0, f64::max),
                ratios[1..].iter().copied().fold(f64::INFINITY, f64::min),
            )
        };
        let document = ratios(case.document_totals());
        let simulated = ratios(totals);
        table.row([
            case.name.to_owned(),
            format!("{:.3}", document.0),
            format!("{:.3}", document.1),
            format!("{:.3}", simulated.0),
            format!("{:.3}", simulated.1),
        ]);
        slowest = slowest.max(simulated.0);
        fastest = fastest.min(simulated.1);
    }
    let claims = vec![
        Claim::within(
            "random reads, slowest adaptive / stock, 1.016 in the document",
            slowest,
            0.98,
            1.03,
            "",
        ),
        Claim::that(
            "random reads, fastest: 3 times faster in the document",
            format!("{:.2} times", 1.0 / fastest),
            fastest <= 1.0 / 3.0,
            "",
        ),
    ];
    Findings { tables: vec![table], claims }
}

const NOT_SEEN: &str =
    "it does not notice that waiting for parts of a region costs more than reading the rest of it";
const NOT_WORTH_IT: &str = "reads that are neighbours by chance are taken for streams, and their readahead is evicted \
    unread";
