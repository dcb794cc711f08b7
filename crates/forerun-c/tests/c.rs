//! Programs in C use the libraries.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const CRATE: &str = env!("CARGO_MANIFEST_DIR");
const NAME: &str = "data.bin";

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {output:?}");
    output
}

/// Where Cargo has put the libraries for C, which it built with this test.
fn libraries() -> PathBuf {
    let test = env::current_exe().unwrap();
    test.parent().unwrap().to_owned()
}

/// A folder with a file to read, and with the shared library under the names that a linker and a loader use.
fn folder() -> (TempDir, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..1_500_001_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::create_dir(folder.path().join("data")).unwrap();
    fs::write(folder.path().join("data").join(NAME), &bytes).unwrap();
    for name in ["libforerun_c.so", "libforerun_c.so.0"] {
        symlink(libraries().join("libforerun_c.so"), folder.path().join(name)).unwrap();
    }
    (folder, bytes)
}

/// Compiles `source` of this crate into `folder`.
fn compile(source: &str, folder: &Path, libraries: &[&str]) -> PathBuf {
    let program = folder.join("program");
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread", "-I"]);
    cc.arg(Path::new(CRATE).join("include")).arg("-o").arg(&program).arg(Path::new(CRATE).join(source));
    run(cc.args(libraries));
    program
}

fn compile_shared(source: &str, folder: &Path) -> PathBuf {
    let folder_text = folder.display();
    compile(
        source,
        folder,
        &[&format!("-L{folder_text}"), "-lforerun_c", &format!("-Wl,-rpath,{folder_text}")],
    )
}

#[test]
fn every_call_keeps_its_promise_in_c() {
    let (folder, _) = folder();
    let program = compile_shared("tests/calls.c", folder.path());
    run(Command::new(program).arg(folder.path().join("data")).arg(NAME));
}

#[test]
fn every_call_is_clean_in_valgrind() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        // `make test` installs it.
        return;
    }
    let (folder, _) = folder();
    let program = compile_shared("tests/calls.c", folder.path());
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=definite"]);
    valgrind.arg("--errors-for-leak-kinds=definite").arg(program);
    let output = run(valgrind.arg(folder.path().join("data")).arg(NAME));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn the_example_copies_a_file_with_either_library() {
    let (folder, bytes) = folder();
    let static_library = libraries().join("libforerun_c.a");
    let data = folder.path().join("data");
    let compilers: [&dyn Fn() -> PathBuf; 2] =
        [&|| compile_shared("examples/read.c", folder.path()), &|| {
            compile("examples/read.c", folder.path(), &[static_library.to_str().unwrap(), "-lm", "-ldl"])
        }];
    for compile in compilers {
        let program = compile();
        let copied = run(Command::new(&program).arg(&data).arg(NAME));
        assert!(copied.stdout == bytes);
        let shown = String::from_utf8(copied.stderr).unwrap();
        assert!(shown.starts_with(&format!("read {} bytes by ", bytes.len())), "{shown}");
        let refused = Command::new(&program).arg(&data).arg("missing.bin").output().unwrap();
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(refused.status.code() == Some(1) && said.contains("missing.bin"), "{said}");
    }
}
