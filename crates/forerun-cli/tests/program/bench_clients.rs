//! `forerun bench clients`, with a small object and without the packages of others.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use tempfile::TempDir;

use super::support::{forerun, output_within, rows_of};

/// A command in the place of Python, which builds a data set with one object. It has 64 MiB and a byte, so that
/// the last range is short.
pub(crate) const PYTHON: &str = "#!/bin/sh\nhead -c 67108865 /dev/urandom > \"$2/array.bin\"\n";

/// A folder of the benchmark whose Python is the shell script `text`.
pub(crate) fn folder_of(text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let python = folder.path().join("venv/bin/python");
    fs::create_dir_all(python.parent().unwrap()).unwrap();
    fs::write(&python, text).unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

#[test]
fn a_client_reads_right_bytes_in_each_way_and_missing_clients_are_told() {
    let folder = folder_of(PYTHON);
    let mut command = forerun();
    command.args([
        "bench",
        "clients",
        "--repeat",
        "1",
        "--only",
        "interleaved,backward,nfs-32k,get-object,s3fs-read,dask-parquet",
    ]);
    // Each of the eight measurements starts a server or a mount.
    let output = output_within(Duration::from_secs(120), command.arg("--folder").arg(folder.path()));
    let table = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let rows = rows_of(&table);
    let ways: Vec<_> = rows.iter().map(|row| row[1]).collect();
    let both = ["`forerun serve`", "direct"];
    let all = ["`forerun serve`", "direct", "`forerun mount`"];
    let nfs = ["`forerun serve`", "`rclone serve nfs`", "`forerun mount`"];
    let nodes = ["2 × `forerun serve`, nginx", "direct"];
    assert_eq!(ways, [&all[..], &all, &nfs, &both, &both, &nodes].concat(), "{table}{errors}");
    // Whether a goal is missed depends on the machine, so the status of the command does not count here.
    let (installed, missing) = rows.split_at(9);
    let (rclone, ours): (Vec<_>, Vec<_>) = installed.iter().partition(|row| row[1] == nfs[1]);
    for row in ours {
        let [seconds, sent]: [f64; 2] = [2, 5].map(|column| row[column].parse().unwrap());
        assert!(seconds > 0.0 && (0.9..1.2).contains(&sent), "{table}{errors}");
    }
    assert_eq!(rclone[0][2], "no rclone that serves NFS is installed", "{table}{errors}");
    assert!(missing[..2].iter().all(|row| row[2] == "venv-clients is not installed"), "{table}{errors}");
    assert!(missing[2..].iter().all(|row| row[2] == "venv-s3fs is not installed"), "{table}{errors}");
    let verdict = "Every client that finished read the right bytes.\n\
                   4 clients did not run: nfs-32k by `rclone serve nfs`, get-object, s3fs-read, dask-parquet.\n";
    assert!(table.contains(verdict), "{table}{errors}");
}
