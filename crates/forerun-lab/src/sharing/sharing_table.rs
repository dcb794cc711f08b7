//! The rows as tables, and for other programs.

use super::{CLIENTS, FILE_BYTES, SharingRow, SharingRows, SharingTrial};
use crate::export::Figure;
use crate::table::{Column, Table};

/// Both tables, and the meaning of their columns.
pub fn tables(trial: &SharingTrial, rows: &SharingRows) -> String {
    let SharingTrial { memory_bytes, files_each, .. } = *trial;
    format!(
        "{CLIENTS} clients that write and read back {files_each} files of {} MiB each, by a network of 100 Mbit/s,\n\
         {} MiB of memory for files\n\n{}\n\
         Clients that read from one engine\n\n{}\n{LEGEND}",
        FILE_BYTES >> 20,
        memory_bytes >> 20,
        table("server", "elevator", &rows.file_server),
        table("clients", "device", &rows.mixes),
    )
}

const LEGEND: &str = "\
First and last are the times at which a client was done. Jain's index is 1 if all get the same, and
one over their number if one gets all. It is that of each whole second until the first is done, and
counts bytes by weight. MB are 10^6 bytes.
";

fn table(name: &str, storage: &str, rows: &[SharingRow]) -> Table {
    let number = |name: &str, group: &str| Column::number(name).below(group);
    let mut table = Table::new([
        Column::word(name),
        Column::word("policy"),
        Column::word(storage),
        number("first", "s"),
        number("last", "s"),
        number("first / last", ""),
        number("least", "Jain"),
        number("mean", "Jain"),
        number("MB/s", ""),
    ]);
    for row in rows {
        let shared = &row.shared;
        let index = |index: Option<f64>| index.map_or_else(|| "–".to_owned(), |index| format!("{index:.3}"));
        let seconds = |ns: u64| format!("{:.1}", ns as f64 / 1e9);
        // A device of many parameters would make the table wide.
        let device = row.storage.split_once(':').map_or(row.storage.as_str(), |(kind, _)| kind);
        table.row([
            row.name.clone(),
            row.policy.map_or("–", |policy| policy.name()).to_owned(),
            device.to_owned(),
            seconds(shared.first_ns),
            seconds(shared.last_ns),
            format!("{:.3}", shared.first_to_last()),
            index(shared.jain_least),
            index(shared.jain_mean),
            format!("{:.1}", shared.rate() / 1e6),
        ]);
    }
    table
}

/// All rows, in whole bytes and nanoseconds.
pub fn figures(rows: &SharingRows) -> Vec<Vec<(&'static str, Figure)>> {
    let ratio = |ratio: Option<f64>| ratio.map_or(Figure::Unknown, Figure::Ratio);
    let row = |row: &SharingRow| {
        let shared = &row.shared;
        vec![
            ("name", Figure::Text(row.name.clone())),
            ("policy", row.policy.map_or(Figure::Unknown, |policy| Figure::Text(policy.name().to_owned()))),
            ("storage", Figure::Text(row.storage.clone())),
            ("first_ns", Figure::Whole(shared.first_ns)),
            ("last_ns", Figure::Whole(shared.last_ns)),
            ("first_to_last", Figure::Ratio(shared.first_to_last())),
            ("jain_least", ratio(shared.jain_least)),
            ("jain_mean", ratio(shared.jain_mean)),
            ("bytes", Figure::Whole(shared.bytes)),
        ]
    };
    rows.file_server.iter().chain(&rows.mixes).map(row).collect()
}
