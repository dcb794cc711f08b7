//! `forerun bench nbd`, with a few reads.

use super::support::program::rows_of;
use super::*;

#[test]
#[ignore = "needs nbdkit, which `make nbd-programs` installs"]
fn servers_are_compared_and_every_byte_is_checked() {
    let mut command = forerun();
    command.args(["bench", "nbd", "--only", "backward,cached-deep", "--repeat", "1", "--latency", "1ms"]);
    // A debug build, or a busy machine, may miss the goals of speed.
    let done = output_within(DEADLINE, &mut command);
    let [table, errors] = [done.stdout, done.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    let rows = rows_of(&table);
    let servers: Vec<_> = rows.iter().map(|row| row[1]).collect();
    let curl = ["nbdkit curl", "nbdkit curl, cache", "nbdkit curl, readahead, cache"];
    assert_eq!(servers, [&["forerun"][..], &curl, &["forerun", "nbdkit memory"]].concat(), "{table}{errors}");
    let requests = |row: usize| rows[row][6].parse::<u64>().unwrap();
    assert!(requests(0) < 200, "Forerun reads ahead: {table}");
    assert!(requests(1) >= 2048, "each read is a request of nbdkit's: {table}");
    assert!(rows.iter().all(|row| row[2].parse::<f64>().unwrap() > 0.0), "{table}");
    assert!(table.contains("Every byte was checked and right."), "{table}");
}
