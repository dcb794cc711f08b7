//! The table of predictions and measurements.

use super::calibrate::Calibration;
use super::cell::Cell;
use crate::demo::markdown::render;
use crate::units::show_size;

/// The table, and the calibrations behind the predictions.
pub(super) fn report(calibrations: &[Calibration], cells: &[Cell], memory_bytes: u64) -> String {
    let header = [
        "reader",
        "latency",
        "policy",
        "measured MB/s",
        "predicted MB/s",
        "predicted ÷ measured",
        "fetched ÷ read",
        "predicted",
        "",
    ];
    let rows: Vec<_> = cells.iter().map(row).collect();
    let measured: Vec<_> = calibrations.iter().map(Calibration::describe).collect();
    let doubt = match cells.iter().filter(|cell| cell.is_disturbed()).count() {
        0 => String::new(),
        count => format!(
            "Other programs used the processors during {count} of {} rows (~): end them and measure again.\n",
            cells.len()
        ),
    };
    format!(
        "\n{}\nMedians of the readers of `forerun demo`, through a real mount with {} of memory and in the simulator.\n\
         Rows that chance decides show the range of all measurements; a prediction within it is right.\n\
         The simulator models threads, Linux's page cache and its readahead, the engine, and the store.\n\
         These times were measured before on this machine, and hold for all rows:\n{}\n{doubt}",
        render(&header.map(str::to_owned), &rows),
        show_size(memory_bytes),
        measured.join("\n"),
    )
}

fn row(cell: &Cell) -> Vec<String> {
    let verdict = match (cell.is_right(), cell.is_disturbed()) {
        (true, false) => "pass",
        (true, true) => "pass ~",
        (false, false) => "FAIL",
        (false, true) => "FAIL ~",
    };
    vec![
        cell.point.pattern.title().to_owned(),
        format!("{} ms", cell.point.calibration.shape.latency.as_millis()),
        cell.point.policy.name().to_owned(),
        match cell.range() {
            Some((slowest, fastest)) => format!("{} to {}", rate(slowest), rate(fastest)),
            None => rate(cell.measured_mb_s()),
        },
        rate(cell.predicted_mb_s()),
        format!("{:.2}", cell.ratio()),
        format!("{:.3}", cell.measured_fetched()),
        format!("{:.3}", cell.predicted_fetched()),
        verdict.to_owned(),
    ]
}

fn rate(mb_s: f64) -> String {
    if mb_s < 10.0 { format!("{mb_s:.3}") } else { format!("{mb_s:.1}") }
}
