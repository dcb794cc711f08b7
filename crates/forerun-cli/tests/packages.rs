//! The licences, the sources and the Rust version of the locked packages, and the list of those in the program.
//!
//! `cargo deny check` looks at more, and compiles for minutes. This holds what every change of the
//! lock may break.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, NodeDep, Package, PackageId};
use serde_json::Value;

const TARGET: &str = "x86_64-unknown-linux-gnu";
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Of all packages that a build for Linux uses.
fn metadata() -> Metadata {
    let options = ["--locked", "--filter-platform", TARGET];
    MetadataCommand::new().other_options(options.map(str::to_owned)).exec().expect("cargo metadata runs")
}

/// Those among them that are used, ours and others.
fn used(metadata: &Metadata) -> impl Iterator<Item = &Package> {
    let nodes = &metadata.resolve.as_ref().expect("dependencies are resolved").nodes;
    nodes.iter().map(|node| &metadata[&node.id])
}

#[test]
fn no_package_needs_a_newer_rust_than_ours_say() {
    let metadata = metadata();
    let ours = metadata.workspace_packages();
    let said = ours.iter().map(|package| package.rust_version.clone().expect("each says it")).min().unwrap();
    let newer = used(&metadata).filter(|package| package.rust_version.as_ref() > Some(&said));
    let newer: Vec<String> =
        newer.map(|package| format!("{} {:?}", package.id, package.rust_version)).collect();
    assert!(newer.is_empty(), "rust-version is {said}, and these need more: {newer:#?}");
}

#[test]
fn packages_come_from_the_registry() {
    let metadata = metadata();
    let elsewhere = used(&metadata)
        .filter(|package| package.source.as_ref().is_some_and(|source| source.repr != REGISTRY))
        .map(|package| package.id.to_string())
        .collect::<Vec<_>>();
    assert!(elsewhere.is_empty(), "{elsewhere:#?}");
}

#[test]
fn licences_are_those_of_deny_toml() {
    let deny = include_str!("../../../deny.toml");
    let (_, list) = deny.split_once("allow = [").expect("deny.toml has a list of licences");
    let (list, _) = list.split_once(']').expect("the list ends");
    let allowed: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    assert!(allowed.contains(&"MIT"), "{allowed:?}");
    let metadata = metadata();
    let refused = used(&metadata)
        .filter(|package| !package.license.as_deref().is_some_and(|terms| may_use(terms, &allowed)))
        .map(|package| format!("{}: {:?}", package.id, package.license))
        .collect::<Vec<_>>();
    assert!(refused.is_empty(), "{refused:#?}");
}

/// Those whose code may be in the program, or those that are in it with any features if `is_required`. Features that
/// only tests turn on count for the former.
fn linked(metadata: &Metadata, is_required: bool) -> Vec<&Package> {
    let nodes = &metadata.resolve.as_ref().expect("dependencies are resolved").nodes;
    let program = metadata.workspace_packages().into_iter().find(|package| package.name == "forerun-cli");
    let mut rest: Vec<&PackageId> = vec![&program.expect("the program is a package").id];
    let mut seen = BTreeSet::new();
    while let Some(id) = rest.pop() {
        let package = &metadata[id];
        // The compiler runs macros, and nothing else has their code.
        if package.targets.iter().any(|target| target.is_proc_macro()) || !seen.insert(id) {
            continue;
        }
        let is_linked = |dependency: &&NodeDep| {
            let name = &metadata[&dependency.pkg].name;
            dependency.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal)
                && package.dependencies.iter().any(|said| {
                    *name == said.name
                        && said.kind == DependencyKind::Normal
                        && !(is_required && said.optional)
                })
        };
        let node = nodes.iter().find(|node| node.id == *id).expect("each package has a node");
        rest.extend(node.deps.iter().filter(is_linked).map(|dependency| &dependency.pkg));
    }
    seen.into_iter().map(|id| &metadata[id]).collect()
}

/// The name, version, licence and checksum of each of `packages`.
fn lines(packages: Vec<&Package>, lock: &str) -> BTreeSet<String> {
    let line = |package: &Package| {
        let (name, version) = (&package.name, &package.version);
        let begin = format!("name = \"{name}\"\nversion = \"{version}\"\n");
        let entry =
            lock.split("[[package]]\n").find(|entry| entry.starts_with(&begin)).expect("it is locked");
        let checksum = entry.split("checksum = \"").nth(1).and_then(|rest| rest.split('"').next());
        let licence = package.license.as_deref().unwrap_or_default().replace('/', " OR ");
        format!("{name} {version} {licence} {}", checksum.unwrap_or_default())
    };
    packages.into_iter().map(line).collect()
}

#[test]
fn the_list_for_users_has_the_packages_of_the_program_with_their_licences_and_checksums() {
    let (folder, root) = (tempfile::tempdir().unwrap(), Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let mut script = Command::new("python3");
    script.current_dir(&root).arg("packaging/sbom.py").arg(folder.path()).arg(TARGET);
    let output = script.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let file = folder.path().join(format!("forerun-{}.cdx.json", env!("CARGO_PKG_VERSION")));
    let list: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let program = &list["metadata"]["component"];
    assert_eq!([&program["name"], &program["type"]], ["forerun-cli", "application"]);
    let line = |part: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let licence = text(&part["licenses"][0]["expression"]);
        [text(&part["name"]), text(&part["version"]), licence, text(&part["hashes"][0]["content"])].join(" ")
    };
    let components = list["components"].as_array().unwrap().iter().chain([program]);
    let listed: BTreeSet<String> = components.map(line).collect();

    let lock = fs::read_to_string(root.join("Cargo.lock")).unwrap();
    let metadata = metadata();
    let [all, required] = [false, true].map(|is_required| lines(linked(&metadata, is_required), &lock));
    let (more, less): (Vec<_>, Vec<_>) =
        (listed.difference(&all).collect(), required.difference(&listed).collect());
    assert!(required.len() > 100, "{required:#?}");
    assert!(more.is_empty() && less.is_empty(), "not in the program: {more:#?}, not listed: {less:#?}");
}

/// Whether the SPDX expression `terms` can be met with the `allowed` licences alone.
fn may_use(terms: &str, allowed: &[&str]) -> bool {
    // Old packages write a slash for OR.
    let spaced = terms.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().collect::<Vec<_>>().into_iter().peekable();
    let met = any(&mut words, allowed);
    assert_eq!(words.next(), None, "{terms} is no SPDX expression");
    met
}

type Words<'a> = std::iter::Peekable<std::vec::IntoIter<&'a str>>;

fn any(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    let mut met = all(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        met |= all(words, allowed);
    }
    met
}

fn all(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    let mut met = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words, allowed);
    }
    met
}

fn one(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    match words.next() {
        Some("(") => {
            let met = any(words, allowed);
            assert_eq!(words.next(), Some(")"));
            met
        }
        Some(licence) if words.next_if_eq(&"WITH").is_some() => {
            let exception = words.next().expect("WITH has an exception");
            allowed.contains(&format!("{licence} WITH {exception}").as_str())
        }
        licence => licence.is_some_and(|licence| allowed.contains(&licence)),
    }
}

#[test]
fn expressions_are_met_by_what_is_allowed() {
    let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"];
    for terms in [
        "MIT",
        "GPL-2.0 OR MIT",
        "MIT/GPL-2.0",
        "(MIT AND Apache-2.0) OR X",
        "Apache-2.0 WITH LLVM-exception",
    ] {
        assert!(may_use(terms, &allowed), "{terms}");
    }
    for terms in ["GPL-2.0", "MIT AND GPL-2.0", "MIT WITH LLVM-exception", "(MIT OR X) AND GPL-2.0"] {
        assert!(!may_use(terms, &allowed), "{terms}");
    }
}
