//! Directory trees, and whether two are the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::support::pattern;
use crate::support::program::{DEADLINE, output_within};

/// About as many files are taken from this machine.
const FILES: usize = 300;
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Far longer than an entry takes to be compared.
const TIME_PER_ENTRY: Duration = Duration::from_millis(10);
/// One that takes more than one fetch.
const LARGE_BYTES: usize = 10 << 20;

/// Names that must be encoded in one place or another.
const ODD_NAMES: [&str; 12] = [
    "two  spaces.txt",
    "Grüße/ключ/日本語 🗻.txt",
    "100%.txt",
    "%41 is not A",
    "a+b&c=d;e",
    "what?",
    "#1",
    "it's \"quoted\"",
    "<tag> &amp; [brackets] {braces}",
    "a:b@c,d!e~f$g",
    "back\\slash",
    "index.html",
];

/// Fills `root` with some of the files of this machine's `/usr/share`, a large
/// one and some with odd names. Not with links or hidden files, which neither S3
/// nor a web server's listing has.
pub(crate) fn fill(root: &Path) {
    let share = Path::new("/usr/share");
    let mut files = Vec::new();
    find_files(share, &mut files);
    assert!(files.len() >= 100, "only {} files in {}", files.len(), share.display());
    files.sort();
    for file in files.iter().step_by(files.len().div_ceil(FILES)) {
        let copy = root.join("share").join(file.strip_prefix(share).unwrap());
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(file, copy).unwrap();
    }
    for name in ODD_NAMES {
        let file = root.join("odd").join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, format!("this is {name}\n")).unwrap();
    }
    fs::write(root.join("empty"), "").unwrap();
    fs::write(root.join("large"), pattern(LARGE_BYTES, 1)).unwrap();
}

/// Collects the files below `directory` that every kind of storage can hold.
fn find_files(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let is_plain = entry.file_name().to_str().is_some_and(|name| !name.starts_with('.'));
        let kind = entry.file_type().unwrap();
        if is_plain && kind.is_dir() {
            find_files(&entry.path(), files);
        } else if is_plain && kind.is_file() && entry.metadata().unwrap().len() <= FILE_BYTES_MAX {
            files.push(entry.path());
        }
    }
}

/// Checks that `diff -r` finds the same names, links and bytes in both. A machine may have tens of
/// thousands of files in one directory: how many there are tells many from a reader that hangs.
pub(crate) fn check_same(one: &Path, other: &Path) {
    let mut diff = Command::new("diff");
    diff.args(["-r", "--no-dereference"]).arg(one).arg(other);
    let output = output_within(DEADLINE + TIME_PER_ENTRY * entry_count(one), &mut diff);
    let differences = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{differences}{errors}");
}

/// The number of entries at `path`, with all below it.
pub(crate) fn entry_count(path: &Path) -> u32 {
    if !fs::symlink_metadata(path).unwrap().is_dir() {
        return 1;
    }
    1 + fs::read_dir(path).unwrap().map(|entry| entry_count(&entry.unwrap().path())).sum::<u32>()
}
