//! `forerun prefetch`, and the ioctls below it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rustix::process::Signal;
use tempfile::TempDir;

use super::support::{Foreground, cat, forerun, output};

/// A mounted directory with files of 64 KiB, of which nobody has read any.
struct Bed {
    mount: Foreground,
    directory: PathBuf,
    outside: TempDir,
    /// After the mount, so that they go once nothing is mounted there.
    _folders: [TempDir; 2],
    runtime: TempDir,
}

impl Bed {
    fn start(options: &[&str]) -> Bed {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let [outside, runtime] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let source = folders[0].path();
        fs::create_dir(source.join("with space")).unwrap();
        for name in ["a", "b", "c", "with space/d e"] {
            fs::write(source.join(name), vec![name.len() as u8; 64 << 10]).unwrap();
        }
        std::os::unix::fs::symlink("../b", source.join("with space/link")).unwrap();
        let directory = folders[1].path().canonicalize().unwrap();
        let mut command = forerun();
        command.env("XDG_RUNTIME_DIR", runtime.path()).arg("mount").args(options);
        let mount = Foreground::start(command.arg(source).arg(&directory), &directory);
        Bed { mount, directory, outside, _folders: folders, runtime }
    }

    /// `forerun prefetch` with `arguments` in `directory`, with `input`.
    fn prefetch(&self, directory: &Path, arguments: &[&str], input: &str) -> Output {
        let list = self.outside.path().join("standard input");
        fs::write(&list, input).unwrap();
        let mut command = forerun();
        command.current_dir(directory).arg("prefetch").args(arguments).stdin(fs::File::open(list).unwrap());
        output(&mut command)
    }

    /// The error of the same.
    #[track_caller]
    fn refused(&self, arguments: &[&str], input: &str, words: &[&str]) {
        let output = self.prefetch(self.outside.path(), arguments, input);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        for word in words {
            assert!(said.contains(word), "{word} is not in {said}");
        }
    }

    fn explained(&self) -> String {
        let mut command = forerun();
        command.env("XDG_RUNTIME_DIR", self.runtime.path()).args(["explain", "--json"]);
        let output = output(command.arg(self.mount.id().to_string()));
        String::from_utf8(output.stdout).unwrap()
    }

    fn end(self) -> String {
        self.mount.signal(Signal::TERM);
        let (status, said) = self.mount.end();
        assert_eq!(status.code(), Some(0), "{said}");
        said
    }
}

#[track_caller]
fn succeeded(output: &Output) -> String {
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(output.status.success(), "{said}");
    said
}

#[test]
fn files_of_a_mount_are_read_ahead_as_a_whole() {
    let bed = Bed::start(&[]);
    assert_eq!(succeeded(&bed.prefetch(&bed.directory, &["c", "a", "with space/link"], "")), "");
    let explained = bed.explained();
    assert!(
        explained.contains("\"file_count\": 3") && explained.contains("\"bytes\": 196608"),
        "{explained}"
    );
    for name in ["c", "a", "b"] {
        assert_eq!(cat(&bed.directory.join(name)), vec![1; 64 << 10]);
    }
    let explained = bed.explained();
    assert!(!explained.contains("file_count"), "it was read to its end: {explained}");
    assert!(!explained.contains("\"missed_bytes\": 65536"), "nothing was waited for: {explained}");
    bed.end();
}

#[test]
fn a_list_names_parts_relative_to_a_directory() {
    let bed = Bed::start(&[]);
    let list = bed.outside.path().join("my list");
    fs::write(&list, "with space/d e\t0\t4096\n\nb\t8192\nmissing\na\n").unwrap();
    let base = bed.directory.to_str().unwrap();
    let said = bed.prefetch(bed.outside.path(), &["--base", base, list.to_str().unwrap()], "");
    assert!(succeeded(&said).contains("1 of 4 parts were left out"), "{said:?}");
    assert!(bed.explained().contains("\"bytes\": 126976"), "{}", bed.explained());
    let told = bed.prefetch(bed.outside.path(), &["--json", "--base", base, list.to_str().unwrap()], "");
    let json = String::from_utf8(told.stdout.clone()).unwrap();
    let expected =
        format!("{{\n  \"directory\": \"{base}\",\n  \"part_count\": 4,\n  \"left_out_count\": 1\n}}\n");
    assert_eq!((succeeded(&told), json), (String::new(), expected));
    // From a directory within it, and from standard input; one path is absolute.
    let inside = bed.directory.join("with space");
    let input = format!("../c\t0\t4096\n{base}/a\nd e\n");
    assert_eq!(succeeded(&bed.prefetch(&inside, &["-"], &input)), "");
    assert!(bed.explained().contains("\"bytes\": 135168"), "{}", bed.explained());
}

#[test]
fn long_lists_are_told_in_pieces() {
    let bed = Bed::start(&[]);
    let names = ["a", "b", "c"];
    let lines = (0..48_000).map(|at| format!("{}\t{}\t1\n", names[at % 3], at / 3 * 4 % 65536));
    assert_eq!(succeeded(&bed.prefetch(&bed.directory, &["-"], &lines.collect::<String>())), "");
    assert!(bed.explained().contains("\"bytes\": 196608"), "{}", bed.explained());
}

#[test]
fn a_wrong_list_is_refused_by_its_line_and_nothing_is_read_ahead() {
    let bed = Bed::start(&[]);
    let base = bed.directory.to_str().unwrap().to_owned();
    let base = base.as_str();
    let outside = bed.outside.path().join("file");
    fs::write(&outside, "").unwrap();
    let outside = outside.to_str().unwrap();
    for (input, words) in [
        ("a\nb\tx\n", ["line 2 of standard input", "the offset \"x\" is no number"]),
        ("a\t0\t0\n", ["line 1 of standard input", "the length is 0"]),
        ("a\nnowhere/b\n", ["line 2 of standard input", "nowhere"]),
        ("a\n/etc/passwd\n", ["line 2 of standard input", "/etc is outside of the mount on"]),
        ("/etc/passwd\n", ["line 1 of standard input", "is not in a mount of forerun"]),
        ("a\n..\n", ["line 2 of standard input", "it names no file"]),
        ("a\nb/\n", ["line 2 of standard input", "it names no file"]),
        ("\n\n", ["standard input holds no list", "it is empty"]),
        ("x\ny\n", ["nothing of the list is in the mount on", base]),
    ] {
        bed.refused(&["--base", base, "-"], input, &words);
    }
    bed.refused(&["--base", base, "-"], &"x".repeat(10_000), &["line 1 of", "longer than 8192 bytes"]);
    bed.refused(&["--base", base, "-"], &"a\n".repeat(65_537), &["line 65537 of", "more than 65536 lines"]);
    bed.refused(&["/nowhere/list"], "", &["/nowhere/list is neither a list nor a file in a mount"]);
    bed.refused(&[&format!("{base}/a"), outside], "", &["is outside of the mount"]);
    bed.refused(&[outside, &format!("{base}/a")], "", &["is not in a mount of forerun", "given alone"]);
    bed.refused(&[base], "", &["is not a file; name the files in it"]);
    bed.refused(&["--base", base, &format!("{base}/a")], "", &["--base is for a list"]);
    let explained = bed.explained();
    assert!(!explained.contains("file_count") && !explained.contains("\"path\""), "{explained}");
    bed.end();
}

#[test]
fn mounts_that_follow_no_lists_say_so() {
    let bed = Bed::start(&["--policy", "none"]);
    let file = bed.directory.join("a");
    bed.refused(&[file.to_str().unwrap()], "", &["refuses the list", "its log says why"]);
    let said = bed.end();
    assert!(said.contains("choose `adaptive`"), "{said}");
}

#[test]
fn a_program_may_tell_a_list_by_ioctls() {
    let bed = Bed::start(&[]);
    let script = "import fcntl, os, sys\n\
                  directory = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)\n\
                  def add(lines): fcntl.ioctl(directory, 1 << 30 | len(lines) << 16 | ord('F') << 8 | 0xAE, lines)\n\
                  add(b'd e\\n')\n\
                  add(b'missing\\t4096\\nlink\\t0\\t4096\\n\\0\\0\\0')\n\
                  print(fcntl.ioctl(directory, ord('F') << 8 | 0xAF))\n\
                  try: add(b'a\\tx\\n')\n\
                  except OSError as error: print(error.errno)";
    let told = output(Command::new("python3").args(["-c", script]).arg(bed.directory.join("with space")));
    assert_eq!(String::from_utf8(told.stdout).unwrap(), "1\n22\n", "{:?}", told.stderr);
    assert!(bed.explained().contains("\"bytes\": 69632"), "{}", bed.explained());
}
