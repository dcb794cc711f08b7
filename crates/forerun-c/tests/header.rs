//! The header says what the library has. `make header-check` compares it with what cbindgen would write.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

fn header() -> String {
    fs::read_to_string(Path::new(CRATE).join("include/forerun.h")).unwrap()
}

/// The names that stand between `before` and `after` in `text`.
fn names<'a>(text: &'a str, before: &str, after: char) -> BTreeSet<&'a str> {
    let rest = text.split(before).skip(1);
    rest.filter_map(|rest| rest.split(after).next()).map(str::trim).filter(|name| is_name(name)).collect()
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// All sources of the crate.
fn sources() -> String {
    let files = fs::read_dir(Path::new(CRATE).join("src")).unwrap();
    files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect()
}

/// The header without its comments.
fn declarations() -> String {
    let header = header();
    let mut parts = header.split("/*");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once("*/").expect("a comment ends").1)
}

#[test]
fn the_header_declares_every_exported_function_and_no_other() {
    let (sources, header) = (sources(), declarations());
    let exported = names(&sources, "extern \"C\" fn forerun_", '(');
    // A declaration has its type before its name.
    let declared: BTreeSet<&str> = header
        .split(';')
        .filter_map(|declaration| declaration.split_once('(').map(|(before, _)| before))
        .filter_map(|before| before.rsplit_once("forerun_").map(|(_, name)| name.trim()))
        .filter(|name| is_name(name))
        .collect();
    assert!(exported.len() > 10, "{exported:?}");
    assert_eq!(exported, declared);
}

#[test]
fn the_header_has_every_constant_and_field() {
    let (sources, header) = (sources(), declarations());
    assert_eq!(names(&sources, "pub const ", ':'), names(&header, "#define ", ' '));
    let fields = names(&sources, "    pub ", ':');
    assert!(fields.len() > 20, "{fields:?}");
    for field in fields {
        assert!(header.contains(&format!(" {field};")) || header.contains(&format!("*{field};")), "{field}");
    }
}

#[test]
fn the_document_explains_every_function_and_option() {
    let document = fs::read_to_string(Path::new(CRATE).join("../../docs/c.md")).unwrap();
    let sources = sources();
    let functions = names(&sources, "extern \"C\" fn ", '(');
    let functions = functions.into_iter().filter(|name| name.starts_with("forerun_"));
    for name in functions.chain(names(&sources, "pub const ", ':')) {
        let name = name.trim_start_matches("FORERUN_ADVICE_");
        assert!(document.contains(&format!("`{name}`")) || document.contains(&format!("`{name}(")), "{name}");
    }
}
