//! `make install-library` and `make uninstall`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {output:?}");
    output
}

fn make(target: &str, root: &Path) {
    let libraries = env::current_exe().unwrap().parent().unwrap().to_owned();
    let mut make = Command::new("make");
    make.current_dir(ROOT).arg(target).arg(format!("DESTDIR={}", root.display()));
    run(make.arg(format!("libraries={}", libraries.display())));
}

/// The files below `folder`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let below = |entry: fs::DirEntry| {
        if entry.file_type().unwrap().is_dir() { files(&entry.path()) } else { vec![entry.path()] }
    };
    entries.flat_map(below).collect()
}

/// The answer of `pkg-config OPTIONS forerun` about the installation below `root`.
fn pkg_config(root: &Path, options: &[&str]) -> Vec<String> {
    let mut command = Command::new("pkg-config");
    command
        .env("PKG_CONFIG_LIBDIR", root.join("usr/local/lib/pkgconfig"))
        .env("PKG_CONFIG_SYSROOT_DIR", root);
    let said = String::from_utf8(run(command.args(options).arg("forerun")).stdout).unwrap();
    said.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn an_installed_library_is_found_by_pkg_config_linked_and_removed_again() {
    let folder = tempfile::tempdir().unwrap();
    let (root, program) = (folder.path().join("root"), folder.path().join("read"));
    fs::create_dir(&root).unwrap();
    make("install-library", &root);
    if Command::new("pkg-config").arg("--version").output().is_ok() {
        assert_eq!(pkg_config(&root, &["--modversion"]), [env!("CARGO_PKG_VERSION")]);
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/read.c");
        let flags = pkg_config(&root, &["--cflags", "--libs"]);
        run(Command::new("cc").arg("-o").arg(&program).arg(&source).args(flags));
        let libraries = root.join("usr/local/lib");
        let copied = run(Command::new(&program).env("LD_LIBRARY_PATH", libraries).arg(&source));
        assert_eq!(copied.stdout, fs::read(&source).unwrap());
    }
    assert_eq!(files(&root).len(), 4, "{:?}", files(&root));
    make("uninstall", &root);
    assert_eq!(files(&root), Vec::<PathBuf>::new());
}
