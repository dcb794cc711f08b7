//! The files of a web server.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::nginx::Nginx;
use crate::support::program::output;
use crate::support::{Mounted, mount, pattern};
use crate::tree;

const MIB: usize = 1 << 20;

/// A file `name` in `root` of `len` bytes that look random.
fn write_large(root: &Path, name: &str, len: usize) {
    let mut file = File::create(root.join(name)).unwrap();
    let piece = pattern(8 * MIB, 1);
    for index in 0..len / piece.len() {
        // Each piece begins elsewhere, so that no two blocks are alike.
        let (end, start) = piece.split_at(index * 4099);
        file.write_all(start).unwrap();
        file.write_all(end).unwrap();
    }
}

#[test]
fn a_site_and_a_file_of_it_read_as_they_were_written() {
    let root = tempfile::tempdir().unwrap();
    tree::fill(root.path());
    let nginx = Nginx::start(root.path());

    for (url, path) in [("", ""), ("odd/Gr%C3%BC%C3%9Fe/", "odd/Grüße"), ("share", "share")] {
        let directory = Mounted::start(mount(&[&nginx.url(url)]));
        tree::check_same(&root.path().join(path), &directory.at(""));
        directory.end();
    }

    for (url, path) in [("large", "large"), ("odd/two%20%20spaces.txt", "odd/two  spaces.txt")] {
        let file = Mounted::start(mount(&[&nginx.url(url)]));
        let expected = root.path().join(path);
        let name = expected.file_name().unwrap().to_str().unwrap();
        let names: Vec<_> =
            fs::read_dir(file.at("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, [name]);
        assert!(fs::read(file.at(name)).unwrap() == fs::read(expected).unwrap());
        file.end();
    }
}

#[test]
fn a_gibibyte_has_the_same_sha256() {
    let root = tempfile::tempdir().unwrap();
    write_large(root.path(), "large", 1024 * MIB);
    let nginx = Nginx::start(root.path());
    let mounted = Mounted::start(mount(&[&nginx.url("")]));
    let [expected, sum] = [root.path().join("large"), mounted.at("large")].map(|file| {
        let output = output(Command::new("sha256sum").arg(file));
        assert!(output.status.success(), "{output:?}");
        output.stdout[..64].to_vec()
    });
    assert_eq!(String::from_utf8(sum), String::from_utf8(expected));
    mounted.end();
}

#[test]
fn bytes_that_32_processes_read_at_once_are_sent_once() {
    const SIZE: usize = 128 * MIB;
    let root = tempfile::tempdir().unwrap();
    write_large(root.path(), "large", SIZE);
    let nginx = Nginx::start(root.path());
    let mounted = Mounted::start(mount(&[&nginx.url("")]));

    let compare = || {
        let mut cmp = Command::new("cmp");
        cmp.arg(root.path().join("large")).arg(mounted.at("large"));
        cmp.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let readers: Vec<Child> = (0..32).map(|_| compare()).collect();
    for reader in readers {
        let output = reader.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    mounted.end();
    let sent = nginx.end("large");
    assert!(sent >= SIZE as u64, "{sent} bytes were sent of {SIZE}");
    assert!(sent * 100 <= SIZE as u64 * 102, "{sent} bytes were sent of {SIZE}");
}
