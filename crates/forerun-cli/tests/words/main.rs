//! The rules for plain words that a program can check, on every text that users read and on comments.
//!
//! * A sentence does not begin with who, what, so much or the like ([`rules`]).
//! * A program or a reader is "it", never `he`, `him` or `his`.
//! * A sentence has 25 words at most.
//! * README.md and CHANGELOG.md stay short.
//! * The name of a type or module stands for one thing in its crate ([`names`]).

mod comments;
mod help;
mod literals;
mod markdown;
mod names;
mod rules;
mod sentences;

use std::fs;
use std::path::{Path, PathBuf};

use rules::complaints;

/// A part of a text that holds whole sentences: a paragraph, an item of a list or a cell of a table.
struct Passage {
    /// The line of the file on which it begins.
    line: usize,
    text: String,
    is_heading: bool,
}

/// Documents besides those of `docs/`.
const DOCUMENTS: &[&str] =
    &["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md", "samples/README.md"];

/// Folders with sources, whose comments are checked.
const COMMENTED: &[&str] = &["crates", "fuzz/src", "fuzz/examples", "fuzz/fuzz_targets"];

const README_WORDS_MAX: usize = 1200;
const CHANGELOG_WORDS_MAX: usize = 700;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files below `folder` whose names end in `ending`, in order.
fn files_below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Fails with every complaint about the passages of every named text.
#[track_caller]
fn assert_plain(texts: impl IntoIterator<Item = (String, Vec<Passage>)>) {
    let found: Vec<String> =
        texts.into_iter().flat_map(|(name, passages)| complaints(&name, &passages)).collect();
    assert!(found.is_empty(), "{} sentences are not in plain words:\n{}", found.len(), found.join("\n"));
}

#[test]
fn documents_are_in_plain_words() {
    let root = root();
    let documents = files_below(&root.join("docs"), ".md");
    assert!(documents.len() > 5, "only {} documents in docs/", documents.len());
    let named =
        DOCUMENTS.iter().map(|name| root.join(name)).chain(files_below(&root.join("crates"), "README.md"));
    assert_plain(named.chain(documents).map(|path| {
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        (name, markdown::passages(&read(&path)))
    }));
}

#[test]
fn help_of_every_command_is_in_plain_words() {
    let commands = help::commands();
    assert!(commands.len() > 15, "only {} commands found", commands.len());
    assert_plain(commands.into_iter().map(|(command, text)| (command, help::passages(&text))));
}

#[test]
fn messages_are_in_plain_words() {
    let root = root();
    let mut texts = Vec::new();
    for path in files_below(&root.join("crates"), ".rs") {
        let path = path.strip_prefix(&root).expect("a file of the repository");
        if literals::is_program(path) {
            texts.push((path.display().to_string(), literals::passages(&read(&root.join(path)))));
        }
    }
    assert!(texts.len() > 300, "only {} sources found", texts.len());
    assert_plain(texts);
}

#[test]
fn comments_are_in_plain_words() {
    let root = root();
    let mut texts = Vec::new();
    for path in COMMENTED.iter().flat_map(|folder| files_below(&root.join(folder), ".rs")) {
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        texts.push((name, comments::passages(&read(&path))));
    }
    assert!(texts.len() > 250, "only {} sources found", texts.len());
    assert_plain(texts);
}

#[test]
fn the_readme_and_the_changelog_are_short() {
    for (name, words_max) in [("README.md", README_WORDS_MAX), ("CHANGELOG.md", CHANGELOG_WORDS_MAX)] {
        let words = read(&root().join(name)).split_whitespace().count();
        assert!(words <= words_max, "{name} has {words} words, and {words_max} are allowed");
    }
}

#[test]
fn log_messages_have_targets_that_are_documented() {
    let (root, mut seen) = (root(), 0);
    let documented = read(&root.join("docs/mount.md"));
    for path in files_below(&root.join("crates"), ".rs") {
        let text = read(&path);
        for message in text.split("tracing::").skip(1) {
            let Some((level, rest)) = message.split_once("!(") else { continue };
            if !["error", "warn", "info", "debug", "trace"].contains(&level) {
                continue;
            }
            seen += 1;
            let target = rest.trim_start().strip_prefix("target: \"").and_then(|rest| rest.split('"').next());
            let target = target.unwrap_or_else(|| panic!("{}: {level}!({rest:.40}", path.display()));
            assert!(documented.contains(&format!("| `{target}` |")), "{}: {target}", path.display());
        }
    }
    assert!(seen > 25, "only {seen} messages found");
}
