//! A case, made again with everybody, and its tables.

use forerun_policies::PolicyKind;
use forerun_sim::run::Run;

use super::super::scene::{self, megabytes, seconds};
use super::super::{Claim, Findings};
use super::trial::{Ends, POLICIES, Staged, Trial};
use crate::table::{Column, Table};

pub(super) struct Measured {
    case: Trial,
    pub(super) findings: Findings,
    /// Of each of [`POLICIES`] to stock: the document's, and the simulated one.
    pub(super) ratios: [(f64, f64); 5],
    /// Of Forerun.
    ours: f64,
}

impl Measured {
    pub(super) fn new(case: Trial) -> Measured {
        let kernels = POLICIES.map(|policy| case.kernel(&policy));
        let ours = case.run(|scene| scene.ours());
        let (document, stock) = (case.document_totals(), kernels[0].total());
        let mut ratios = [(0.0, 0.0); 5];
        for (at, kernel) in kernels.iter().enumerate() {
            ratios[at] = (document[at] / document[0], kernel.total() / stock);
        }
        let tables = vec![totals(case, &kernels, &ours), stages(case, &kernels, &ours)];
        let findings = Findings { tables, claims: Vec::new() };
        Measured { case, findings, ratios, ours: ours.total() / stock }
    }

    pub(super) fn claim(&mut self, claim: Claim) {
        self.findings.claims.push(claim);
    }

    /// Higher hit rates are faster, to three points, and the highest gains.
    pub(super) fn claim_order(&mut self) {
        let seen = self.ratios.map(|(_, seen)| seen);
        let holds = seen[1..].windows(2).all(|pair| pair[1] <= pair[0] + 0.03) && seen[4] < 1.0;
        let text = seen[1..].iter().map(|ratio| format!("{ratio:.3}")).collect::<Vec<_>>().join(" ");
        let what = format!("{}: the higher the hit rate, the faster, to 0.03", self.case.name);
        self.claim(Claim::that(what, text, holds, ""));
    }

    pub(super) fn claim_ours(&mut self, max: f64, why: &'static str) {
        let what = format!("{}, Forerun / stock", self.case.name);
        self.claim(Claim::within(what, self.ours, 0.0, max, why));
    }
}

/// All stages together.
fn totals(case: Trial, kernels: &[Staged; 5], ours: &Staged) -> Table {
    let mut table = Table::new([
        Column::word("policy"),
        Column::number("s").below("document"),
        Column::number("/ stock").below("document"),
        Column::number("s").below("simulated"),
        Column::number("/ stock").below("simulated"),
        Column::number("requests").below("simulated"),
        Column::number("MB").below("simulated"),
    ]);
    let (document, stock) = (case.document_totals(), kernels[0].total());
    let mut row = |name: &str, document: [String; 2], time: f64, run: Option<&Run>| {
        let mut cells = vec![name.to_owned()];
        cells.extend(document);
        cells.extend([format!("{time:.2}"), format!("{:.3}", time / stock)]);
        if let Some(run) = run {
            cells.push(run.device.read_count.to_string());
            cells.push(format!("{:.0}", megabytes(run.device.read_bytes)));
        }
        table.row(cells);
    };
    for (policy, (kernel, total)) in POLICIES.iter().zip(kernels.iter().zip(document)) {
        let document = [format!("{total:.2}"), format!("{:.3}", total / document[0])];
        row(policy.name, document, kernel.total(), Some(&kernel.run));
    }
    let plain = case.run(|scene| scene.policy(PolicyKind::None));
    let bounds = case.scene(&Ends::default(), |scene| scene.bounds(scene::ide().costs()));
    let none = || [String::new(), String::new()];
    row("Forerun", none(), ours.total(), Some(&ours.run));
    row("Forerun, no readahead", none(), plain.total(), Some(&plain.run));
    row("clairvoyant", none(), seconds(bounds.clairvoyant_ns), None);
    row("lower bound", none(), seconds(bounds.lower_ns), None);
    table
}

/// Every stage with every policy.
fn stages(case: Trial, kernels: &[Staged; 5], ours: &Staged) -> Table {
    let mut columns = vec![Column::number("stage")];
    for group in ["document s", "simulated s"] {
        columns.extend(
            POLICIES.map(|policy| Column::number(policy.name.trim_start_matches("hit ")).below(group)),
        );
    }
    columns.push(Column::number("Forerun").below("simulated s"));
    let mut table = Table::new(columns);
    for (at, row) in case.rows().iter().enumerate() {
        let mut cells = vec![row.text("stage").to_owned()];
        cells.extend(POLICIES.map(|policy| format!("{:.2}", row.number(policy.column))));
        cells.extend(kernels.iter().map(|kernel| format!("{:.2}", kernel.stages[at])));
        cells.push(format!("{:.2}", ours.stages[at]));
        table.row(cells);
    }
    table
}
