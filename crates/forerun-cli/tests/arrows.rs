//! The dependency arrows of ARCHITECTURE.md, held by `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};

/// Each crate of ours, and which of ours it may use.
const ARROWS: &[(&str, &[&str])] = &[
    ("forerun-engine", &[]),
    ("forerun-backend", &[]),
    ("forerun-policies", &["forerun-engine"]),
    ("forerun", &["forerun-engine", "forerun-policies", "forerun-backend"]),
    ("forerun-object-store", &["forerun"]),
    ("forerun-serve", &["forerun"]),
    ("forerun-c", &["forerun"]),
    ("forerun-faults", &["forerun", "forerun-backend"]),
    ("forerun-trace", &[]),
    ("forerun-sim", &["forerun-engine", "forerun-policies", "forerun-trace"]),
    ("forerun-lab", &["forerun-engine", "forerun-policies", "forerun-sim", "forerun-trace", "forerun"]),
    (
        "forerun-cli",
        &[
            "forerun-engine",
            "forerun-backend",
            "forerun",
            "forerun-serve",
            "forerun-trace",
            "forerun-sim",
            "forerun-lab",
        ],
    ),
];

/// These are `no_std` and decide with integers.
const DECIDERS: [&str; 2] = ["forerun-engine", "forerun-policies"];

#[test]
fn crates_use_only_what_the_architecture_allows() {
    let metadata = cargo_metadata::MetadataCommand::new().no_deps().exec().expect("cargo metadata runs");
    let allowed: BTreeMap<&str, BTreeSet<&str>> =
        ARROWS.iter().map(|(name, uses)| (*name, uses.iter().copied().collect())).collect();
    let ours: BTreeSet<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();
    assert_eq!(ours, allowed.keys().copied().collect(), "a crate without arrows");
    for package in &metadata.packages {
        let name = package.name.as_str();
        for dependency in &package.dependencies {
            let used = dependency.name.as_str();
            if dependency.kind != cargo_metadata::DependencyKind::Normal {
                continue;
            }
            if ours.contains(used) {
                assert!(allowed[name].contains(used), "{name} must not use {used}");
            } else {
                assert!(!DECIDERS.contains(&name), "{name} must not use {used}");
            }
        }
    }
}

#[test]
fn the_engine_sees_no_floats_clocks_threads_or_hash_order() {
    for (name, least) in DECIDERS.into_iter().zip([20, 15]) {
        let sources = format!("{}/../{name}/src", env!("CARGO_MANIFEST_DIR"));
        decides_alike_everywhere(&sources, least);
        let root = std::fs::read_to_string(format!("{sources}/lib.rs")).expect("a readable source");
        assert!(root.contains("#![no_std]"), "{name} has `std` again");
    }
}

/// The sources below `sources`, of which there are more than `least`, see nothing that differs by machine.
fn decides_alike_everywhere(sources: &str, least: usize) {
    let mut folders = vec![std::path::PathBuf::from(sources)];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the engine's sources are there") {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            seen += 1;
            let text = std::fs::read_to_string(&path).expect("a readable source");
            for word in [
                "f32",
                "f64",
                "std::time",
                "std::thread",
                "std::fs",
                "HashMap",
                "HashSet",
                "unsafe {",
                "extern crate std",
            ] {
                assert!(!text.contains(word), "{} has `{word}`", path.display());
            }
        }
    }
    assert!(seen > least, "only {seen} sources found");
}
