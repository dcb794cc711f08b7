//! A directory of this machine.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use crate::support::{Mounted, mount};
use crate::tree;

/// Some machines have hundreds of thousands of entries. Trees that would exceed this are listed, not compared.
const ENTRIES_MAX: u32 = 10_000;

#[test]
fn usr_share_reads_as_it_is() {
    let mounted = Mounted::start(mount(&["/usr/share"]));
    let names = |directory: &Path| -> BTreeSet<OsString> {
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    let share = Path::new("/usr/share");
    assert_eq!(names(&mounted.at("")), names(share));
    let mut compared = 0;
    for name in names(share) {
        let count = tree::entry_count(&share.join(&name));
        if compared + count <= ENTRIES_MAX {
            tree::check_same(&share.join(&name), &mounted.at("").join(&name));
            compared += count;
        }
    }
    assert!(compared >= 100, "only {compared} entries could be compared");
    mounted.end();
}
