//! A directory of this machine.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use crate::support::{Mounted, mount};
use crate::tree;

#[test]
fn usr_share_reads_as_it_is() {
    let mounted = Mounted::start(mount(&["/usr/share"]));
    let names = |directory: &Path| -> BTreeSet<OsString> {
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    let share = Path::new("/usr/share");
    assert_eq!(names(&mounted.at("")), names(share));
    for name in names(share) {
        tree::check_same(&share.join(&name), &mounted.at("").join(&name));
    }
    mounted.end();
}
