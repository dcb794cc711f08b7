//! The licences, the sources and the Rust version of the locked packages.
//!
//! `cargo deny check` looks at more, and compiles for minutes. This holds what every change of the
//! lock may break.

use cargo_metadata::{Metadata, MetadataCommand, Package};

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Of all packages that a build for Linux uses.
fn metadata() -> Metadata {
    let options = ["--locked", "--filter-platform", "x86_64-unknown-linux-gnu"];
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
