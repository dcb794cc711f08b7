//! The policy stays small: code lines, named constants, and files of one idea each. It asks for no kind of
//! device.

use std::fs;
use std::path::{Path, PathBuf};

/// The most code lines and constants of some folders and files of `src`. Comments, blanks and tests do not count.
struct Limit {
    of: &'static [&'static str],
    lines: usize,
    constants: usize,
}

/// They only ever fall, but for the lines that name new folders and files. A budget that follows the machine added
/// some to the cache, and fair shares to the scheduler and the walks. Elements of mapped arrays whose ends are seen late
/// added a few to the policy.
const LIMITS: [Limit; 3] = [
    Limit { of: &["policy/adaptive", "policy/follower", "policy/census.rs"], lines: 3262, constants: 97 },
    Limit { of: &["walk"], lines: 699, constants: 19 },
    Limit { of: &["device", "scheduler", "cache"], lines: 3563, constants: 82 },
];
/// The most lines of a file, tests included, and the most files of a folder.
const FILE_LINES_MAX: usize = 250;
const FOLDER_FILES_MAX: usize = 10;
/// Questions about the kind of device. Only `device/` may ask them.
const KINDS: [&str; 8] = [
    "is_far(",
    "is_far_link(",
    "is_serial(",
    "may_be_disk(",
    "may_serve_one_at_a_time(",
    "has_head(",
    "slice_bytes(",
    "is_full(",
];

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The files below `path`, or itself; `see` is told how many each folder has.
fn files(path: &Path, see: &mut impl FnMut(&Path, usize)) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).expect("a folder of the sources");
    let (folders, files_here): (Vec<PathBuf>, Vec<PathBuf>) =
        entries.map(|entry| entry.expect("an entry").path()).partition(|path| path.is_dir());
    see(path, files_here.len());
    let below = folders.iter().flat_map(|folder| files(folder, see)).collect::<Vec<_>>();
    files_here.into_iter().chain(below).collect()
}

/// Code lines of `text`: what stands before its tests, without comments and blanks.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    code.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"))
}

fn is_constant(line: &&str) -> bool {
    let words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
    let mut words = words.skip_while(|word| word.ends_with(')') && !word.contains(':'));
    let is_const = matches!(words.next(), Some("const" | "static"));
    is_const && words.next().is_some_and(|name| name.starts_with(|first: char| first.is_ascii_uppercase()))
}

#[test]
fn lines_and_constants_are_few() {
    for Limit { of, lines, constants } in LIMITS {
        let paths = of.iter().flat_map(|part| files(&src().join(part), &mut |_, _| {}));
        let texts: Vec<String> = paths
            .filter(|path| !path.ends_with("tests.rs"))
            .map(|path| fs::read_to_string(path).expect("a source"))
            .collect();
        let line_count = texts.iter().map(|text| code(text).count()).sum::<usize>();
        let constant_count = texts.iter().map(|text| code(text).filter(is_constant).count()).sum::<usize>();
        println!("{of:?}: {line_count} lines, {constant_count} constants");
        assert!(line_count > 0 && line_count <= lines, "{of:?}: {line_count} code lines, {lines} may be");
        assert!(constant_count <= constants, "{of:?}: {constant_count} constants, {constants} may be");
    }
}

/// The constants of one source: name and value.
fn constants(text: &str) -> impl Iterator<Item = (&str, &str)> {
    code(text).filter(is_constant).filter_map(|line| {
        let (left, value) = line.split_once(" = ")?;
        let name = left.split(':').next()?.split_whitespace().last()?;
        Some((name, value.trim_end_matches(';')))
    })
}

/// The rows of `docs/constants.md`: file, name and value. A row without a file belongs to the one above.
fn documented() -> Vec<(String, String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/constants.md");
    let text = fs::read_to_string(path).expect("the page of the constants");
    let table = text.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let mut file = String::new();
    let row = |line: &str| {
        let cells: Vec<&str> =
            line.trim_matches('|').split(" | ").map(|cell| cell.trim().trim_matches('`')).collect();
        let [of, name, value, unit, source] = cells[..] else { panic!("five cells: {line}") };
        assert!(!unit.is_empty() && !source.is_empty(), "a unit and a source: {line}");
        if !of.is_empty() {
            file = of.to_owned();
        }
        (file.clone(), name.to_owned(), value.to_owned())
    };
    table.map(row).collect()
}

#[test]
fn every_constant_has_a_unit_and_a_source() {
    let mut found = Vec::new();
    for path in LIMITS.iter().flat_map(|limit| limit.of).flat_map(|of| files(&src().join(of), &mut |_, _| {}))
    {
        if path.ends_with("tests.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source");
        let file = path.strip_prefix(src()).expect("below src").display().to_string();
        found.extend(constants(&text).map(|(name, value)| (file.clone(), name.to_owned(), value.to_owned())));
    }
    let (mut documented, mut found) = (documented(), found);
    documented.sort();
    found.sort();
    let missing: Vec<_> = found.iter().filter(|row| !documented.contains(row)).collect();
    let stale: Vec<_> = documented.iter().filter(|row| !found.contains(row)).collect();
    assert!(missing.is_empty() && stale.is_empty(), "docs/constants.md lacks {missing:?}, and has {stale:?}");
}

#[test]
fn files_and_folders_are_short() {
    for part in LIMITS.iter().flat_map(|limit| limit.of).chain(&["engine"]) {
        let few = |path: &Path, count| assert!(count <= FOLDER_FILES_MAX, "{count} files in {path:?}");
        for path in files(&src().join(part), &mut { few }) {
            let count = fs::read_to_string(&path).expect("a source").lines().count();
            assert!(count <= FILE_LINES_MAX, "{path:?} has {count} lines");
        }
    }
}

#[test]
fn the_policy_asks_for_no_kind_of_device() {
    for path in files(&src().join("policy/adaptive"), &mut |_, _| {}) {
        let text = fs::read_to_string(&path).expect("a source");
        for kind in KINDS {
            assert!(!text.contains(kind), "{path:?} asks {kind})");
        }
    }
}
