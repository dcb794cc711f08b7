//! `samples/` matches its README.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use forerun_trace::{ReadOptions, Reader, Summary};

/// The limit that keeps the repository small.
const BYTES_MAX: u64 = 720_000;

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples")
}

/// The row of the README's table for `name`, without its description.
fn row(name: &str) -> String {
    let reader = Reader::open(&samples().join(name), ReadOptions::default()).unwrap();
    let mut summary = Summary::default();
    reader.for_each(|access| summary.add(&access.unwrap()));
    let Summary { reads, read_bytes, writes, partial, duration_ns, .. } = summary;
    let (files, seconds) = (summary.files(), duration_ns / 1_000_000_000);
    format!("| {name} | {reads} | {read_bytes} | {writes} | {partial} | {files} | {seconds} |")
}

#[test]
fn the_readme_matches_the_samples() {
    let readme = fs::read_to_string(samples().join("README.md")).unwrap();
    let mut names = BTreeSet::new();
    let mut bytes = 0;
    for entry in fs::read_dir(samples()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if name != "README.md" {
            bytes += entry.metadata().unwrap().len();
            names.insert(name);
        }
    }
    assert!(!names.is_empty() && bytes <= BYTES_MAX, "{bytes} bytes in {names:?}");
    for name in &names {
        let row = row(name);
        assert!(readme.lines().any(|line| line.starts_with(&row)), "the README has no row {row}");
    }
    let rows = readme.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next());
    let told: BTreeSet<String> = rows.filter(|name| *name != "file").map(str::to_owned).collect();
    assert_eq!(told, names, "the README's rows are the files");
}
