//! Schedules find bugs. Each bug here is planted into a copy of the sources, and must be found.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The number of schedules within which a bug must be found.
const SCHEDULES: &str = "1000";

struct Plant {
    name: &'static str,
    /// Below `crates/`.
    file: &'static str,
    right: &'static str,
    wrong: &'static str,
}

const PLANTS: &[Plant] = &[
    Plant {
        name: "the web backend does not compare versions",
        file: "forerun-backend/src/http/answered_range.rs",
        right: "if !known.matches(&State::of(headers, range.total.unwrap_or(known.size))) {",
        wrong: "if range.total == Some(u64::MAX) {",
    },
    Plant {
        name: "the object store's backend does not compare versions",
        file: "forerun-backend/src/object/mod.rs",
        right: "if !describes(version, &got.meta) {",
        wrong: "if !describes(version, &got.meta) && got.meta.size == u64::MAX {",
    },
    Plant {
        name: "a failed fetch frees its slots twice",
        file: "forerun-engine/src/cache/fill.rs",
        right: "self.slots.give_one(row.slots[left.trailing_zeros() as usize]);",
        wrong: "self.slots.give_one(row.slots[left.trailing_zeros() as usize]);\n\
                self.slots.give_one(row.slots[left.trailing_zeros() as usize]);",
    },
    Plant {
        name: "a broken body is resumed at a wrong place",
        file: "forerun-backend/src/layer/retry.rs",
        right: "self.extent.start += bytes as u64;",
        wrong: "self.extent.start += bytes.next_multiple_of(4096) as u64;",
    },
    Plant {
        name: "a user and a password go along to another server",
        file: "forerun-backend/src/http/client.rs",
        right: "let is_same = from.origin() == to.origin();",
        wrong: "let is_same = from.scheme() == to.scheme();",
    },
];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}

#[test]
fn planted_bugs_fit_the_sources() {
    for Plant { name, file, right, .. } in PLANTS {
        let text = fs::read_to_string(workspace().join("crates").join(file)).expect("a source");
        assert_eq!(text.matches(right).count(), 1, "{name}: {file} has changed; plant it anew");
    }
}

#[test]
#[ignore = "compiles the sources anew for each bug; make soak runs it"]
fn planted_bugs_are_found() {
    for plant in PLANTS {
        let found = search(plant);
        println!("{}:\n{}", plant.name, found.lines().take(2).collect::<Vec<_>>().join("\n"));
        assert!(found.contains("replay it with"), "{} is not found: {found}", plant.name);
    }
}

/// The output of schedules with a copy of the sources that has a bug.
fn search(plant: &Plant) -> String {
    // Packages of equal paths below their workspaces share artifacts, so the copy has its own
    // folder.
    let (copy, built) = (workspace().join("target/planted"), workspace().join("target/planted-built"));
    let _ = fs::remove_dir_all(&copy);
    fs::create_dir_all(&copy).expect("the target folder can be written");
    for name in ["Cargo.toml", "Cargo.lock", "crates"] {
        let status = Command::new("cp").arg("-r").arg(workspace().join(name)).arg(&copy).status();
        assert!(status.expect("cp runs").success());
    }
    let file = copy.join("crates").join(plant.file);
    let text = fs::read_to_string(&file).expect("a source");
    fs::write(&file, text.replace(plant.right, plant.wrong)).expect("the copy can be written");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--quiet", "--locked", "--package", "forerun-faults"]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    cargo.args(["--", "--schedules", SCHEDULES]).current_dir(&copy).env("CARGO_TARGET_DIR", built);
    let output = cargo.output().expect("cargo runs");
    assert_ne!(output.status.code(), Some(101), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}
