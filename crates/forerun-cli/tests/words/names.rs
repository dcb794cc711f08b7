//! Names of types and modules: in one crate, each stands for one thing.

use std::collections::{BTreeMap, BTreeSet};

use crate::{files_below, read, root};

/// Names that several files of a crate define, each with the reason.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("forerun-trace", "Decoder", "the reader of each format, named with its module"),
    ("forerun-trace", "Encoder", "the writer of each format, named with its module"),
];

/// Crates whose folders each speak a protocol of their own. A name may stand for the same part of each.
const FRONT_ENDS: &[&str] = &["forerun-serve"];

/// Keywords that define a type.
const TYPES: &[&str] = &["struct", "enum", "trait", "union"];

/// A module of tests has the same name everywhere.
const TESTS: &str = "tests";

/// The type or module that `line` defines.
fn defined(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
    let keyword = words.next()?;
    // An indented `type` belongs to a trait.
    let is_alias = keyword == "type" && !line.starts_with(char::is_whitespace);
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let (name, after) =
        words.next().map(|word| word.split_at(word.find(|c| !is_name(c)).unwrap_or(word.len())))?;
    let is_module = keyword == "mod" && (after.starts_with(';') || line.ends_with('{')) && name != TESTS;
    (is_module || is_alias || TYPES.contains(&keyword)).then_some(name)
}

/// `files` by their topmost folder.
fn by_folder<'a>(files: impl Iterator<Item = (String, &'a str)>) -> Vec<Vec<(String, &'a str)>> {
    let mut folders = BTreeMap::<String, Vec<_>>::new();
    for (file, source) in files {
        let folder = file.split('/').next().unwrap_or_default().to_owned();
        folders.entry(folder).or_default().push((file, source));
    }
    folders.into_values().collect()
}

/// The names that several files define, with those files.
fn duplicates<'a>(files: impl IntoIterator<Item = (String, &'a str)>) -> BTreeMap<&'a str, BTreeSet<String>> {
    let mut found = BTreeMap::<_, BTreeSet<String>>::new();
    for (file, source) in files {
        for name in source.lines().filter_map(defined) {
            found.entry(name).or_default().insert(file.clone());
        }
    }
    found.retain(|_, files| files.len() > 1);
    found
}

#[test]
fn a_name_of_a_type_or_module_stands_for_one_thing_in_its_crate() {
    let (mut bad, mut allowed, mut count) = (Vec::new(), BTreeSet::new(), 0);
    for path in files_below(&root().join("crates"), "Cargo.toml") {
        let folder = path.with_file_name("src");
        let name =
            path.parent().and_then(|path| path.file_name()).expect("a folder").to_string_lossy().into_owned();
        let sources: Vec<_> =
            files_below(&folder, ".rs").into_iter().map(|path| (read(&path), path)).collect();
        count += sources.len();
        let files = sources.iter().map(|(source, path)| {
            (path.strip_prefix(&folder).unwrap_or(path).display().to_string(), source.as_str())
        });
        let scopes =
            if FRONT_ENDS.contains(&name.as_str()) { by_folder(files) } else { vec![files.collect()] };
        for (duplicate, files) in scopes.into_iter().flat_map(duplicates) {
            if let Some(entry) = ALLOWED.iter().find(|(of, allowed, _)| *of == name && *allowed == duplicate)
            {
                allowed.insert(entry);
            } else {
                bad.push(format!("{name}: {duplicate} is defined in {files:?}"));
            }
        }
    }
    assert!(count > 300, "only {count} sources found");
    assert!(bad.is_empty(), "{} names stand for several things:\n{}", bad.len(), bad.join("\n"));
    let stale: Vec<_> = ALLOWED.iter().filter(|entry| !allowed.contains(entry)).collect();
    assert!(stale.is_empty(), "these are defined once now: {stale:?}");
}

#[test]
fn definitions_in_several_files_are_found() {
    let a = "pub(crate) struct Place<T>;\nmod line;\nenum Kind {\nimpl A for B {\n    type Item = u64;";
    let b = "/// struct Place\npub mod line {\n    pub enum Kind<'a> {}\n    type Item = u8;\nmod tests {";
    let c = "type Item = u8;\nlet mod_line = Place { kind };\nmod tests {\nunion Kind {";
    let found = duplicates([("a", a), ("b", b), ("c", c)].map(|(file, source)| (file.to_owned(), source)));
    let found: Vec<_> = found.iter().map(|(name, files)| (*name, files.len())).collect();
    assert_eq!(found, [("Kind", 3), ("line", 2)]);
}
