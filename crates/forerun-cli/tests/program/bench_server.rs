//! `forerun bench server`, with few clients.

use super::support::{forerun, output, rows_of};

#[test]
#[ignore = "needs root, the memory controller of cgroup v1 and a network of its own (`ip`), as `make bench-server` says"]
fn slow_clients_get_right_bytes_from_modelled_disks() {
    let mut command = forerun();
    command.args(["bench", "server", "--only", "forerun,forerun-direct", "--clients", "20", "--time", "9s"]);
    let output = output(&mut command);
    let table = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let rows = rows_of(&table);
    assert_eq!(rows.len(), 2, "{table}{errors}");
    for row in &rows {
        // All of them, unless the machine is busy.
        let at_rate: u64 = row[1].split(' ').next().unwrap().parse().unwrap();
        assert!(at_rate > 10, "{table}{errors}");
        let (disk_ms, peak): (f64, f64) = (row[4].parse().unwrap(), row[8].parse().unwrap());
        assert!(disk_ms > 0.0 && (5.0..200.0).contains(&peak), "{table}{errors}");
    }
    assert!(!table.contains("WRONG") && !table.contains("served to the end"), "{table}{errors}");
}
