//! Rows of "seconds with the stock readahead, seconds with the adaptive one", made
//! again.
//= seed 000

use forerun_policies::kernel::Algorithm;
use forerun_sim::device::Costs;
use forerun_sim::kernel::KernelConfig;

use super::scene::{Scene, seconds};
use super::{Claim, Findings, data};
use crate::table::{Column, Table};

/// A kernel of the document.
#[derive(Clone, Copy)]
pub(super) struct Historic {
    pub(super) config: KernelConfig,
    pub(super) algorithm: fn() -> Box<dyn Algorithm>,
}

impl Historic {
    /// Seconds that it takes.
    pub(super) fn run(&self, scene: &Scene<'_>) -> f64 {
        seconds(scene.kernel(self.config, (self.algorithm)()).elapsed_ns)
    }
}

/// Seconds that everybody takes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub(super) stock: f64,
    pub(super) adaptive: f64,
    pub(super) ours: f64,
    pub(super) clairvoyant: f64,
    pub(super) lower: f64,
}

impl Times {
    /// On a device with these costs.
    pub(super) fn of(scene: &Scene<'_>, stock: &Historic, adaptive: &Historic, costs: Costs) -> Times {
        Times {
            stock: stock.run(scene),
            adaptive: adaptive.run(scene),
            ..Times::without_kernels(scene, costs)
        }
    }

    /// Without the kernels.
    pub(super) fn without_kernels(scene: &Scene<'_>, costs: Costs) -> Times {
        let bounds = scene.bounds(costs);
        Times {
            ours: seconds(scene.ours().elapsed_ns),
            clairvoyant: seconds(bounds.clairvoyant_ns),
            lower: seconds(bounds.lower_ns),
            ..Times::default()
        }
    }

    /// The mean of some.
    pub(super) fn mean(all: &[Times]) -> Times {
        let mean = |get: fn(&Times) -> f64| all.iter().map(get).sum::<f64>() / all.len() as f64;
        Times {
            stock: mean(|one| one.stock),
            adaptive: mean(|one| one.adaptive),
            ours: mean(|one| one.ours),
            clairvoyant: mean(|one| one.clairvoyant),
            lower: mean(|one| one.lower),
        }
    }
}

/// One row, made again.
pub(super) struct Pair {
    /// The document's row: its workload and its variant.
    pub(super) key: (&'static str, &'static str),
    pub(super) times: Times,
    /// Where adaptive / stock is to lie, and why it does not, where that is known.
    pub(super) band: (f64, f64),
    pub(super) why: &'static str,
    /// Where Forerun / stock is to lie at most, and why it does not.
    pub(super) ours_max: f64,
    pub(super) why_ours: &'static str,
}

/// The seconds of the document's row `key`, stock and adaptive.
pub(super) fn document(table: &str, key: (&str, &str)) -> (f64, f64) {
    let rows = data::rows(table);
    let row = rows.iter().find(|row| (row.text("workload"), row.text("variant")) == key);
    let row = row.unwrap_or_else(|| panic!("no row {key:?} in {table}"));
    (row.number("stock_s"), row.number("adaptive_s"))
}

/// Compares with the rows of `table`.
pub(super) fn findings(table: &str, pairs: &[Pair]) -> Findings {
    let mut shown = Table::new([
        Column::word("workload"),
        Column::number("stock s").below("document"),
        Column::number("adaptive s").below("document"),
        Column::number("ratio").below("document"),
        Column::number("stock s").below("simulated"),
        Column::number("adaptive s").below("simulated"),
        Column::number("ratio").below("simulated"),
        Column::number("s").below("Forerun"),
        Column::number("/ stock").below("Forerun"),
        Column::number("clairvoyant s").below("bound"),
        Column::number("lower s").below("bound"),
    ]);
    let mut claims = Vec::new();
    for pair in pairs {
        let (workload, variant) = pair.key;
        let (document_stock, document_adaptive) = document(table, pair.key);
        let document_ratio = document_adaptive / document_stock;
        let Times { stock, adaptive, ours, clairvoyant, lower } = pair.times;
        let name = if variant.is_empty() { workload.to_owned() } else { format!("{workload}, {variant}") };
        shown.row([
            name.clone(),
            format!("{document_stock:.2}"),
            format!("{document_adaptive:.2}"),
            format!("{document_ratio:.3}"),
            format!("{stock:.2}"),
            format!("{adaptive:.2}"),
            format!("{:.3}", adaptive / stock),
            format!("{ours:.2}"),
            format!("{:.3}", ours / stock),
            format!("{clairvoyant:.2}"),
            format!("{lower:.2}"),
        ]);
        let what = format!("{name}: adaptive / stock, {document_ratio:.3} in the document");
        claims.push(Claim::within(what, adaptive / stock, pair.band.0, pair.band.1, pair.why));
        let what = format!("{name}: Forerun / stock");
        claims.push(Claim::within(what, ours / stock, 0.0, pair.ours_max, pair.why_ours));
    }
    Findings { tables: vec![shown], claims }
}
