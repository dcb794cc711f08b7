//! Texts that are compared with files.

use std::path::Path;

/// Compares `text` with the file `name` in the folder of snapshots;
/// `UPDATE_SNAPSHOTS=1` writes it instead.
#[track_caller]
pub(crate) fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let path = path.display();
    assert!(text == expected, "not as in {path}; UPDATE_SNAPSHOTS=1 writes it:\n{expected}\nis now\n{text}");
}
