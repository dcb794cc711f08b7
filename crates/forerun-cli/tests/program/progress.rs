//! Bars that show progress on a terminal.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::support::{DEADLINE, forerun, within};

const RECORDING: &str = "ts_us,op,file_or_dev,offset,length\n0,R,a,0,512\n";

/// `forerun trace convert` of a named pipe, which waits until the test writes the recording.
struct Converting {
    child: Child,
    input: PathBuf,
    output: PathBuf,
}

impl Converting {
    /// Standard error is a pipe, or a terminal whose screen is in the pipe of standard output.
    fn start(folder: &Path, is_on_terminal: bool) -> Converting {
        let [input, output] = ["csv", "out"].map(|end| folder.join(format!("{is_on_terminal}.{end}")));
        mknodat(CWD, &input, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let mut convert = forerun();
        convert.args(["trace", "convert", "--to-format", "csv"]).arg(&input).arg(&output);
        let mut command = if is_on_terminal {
            // The command gives a terminal to the program, and shows its screen.
            let words: Vec<_> = std::iter::once(convert.get_program()).chain(convert.get_args()).collect();
            let mut script = Command::new("script");
            let words = words.join(" ".as_ref());
            script.args(["--quiet", "--return", "--command"]).arg(words).arg("/dev/null");
            script
        } else {
            convert
        };
        command.env("TERM", "xterm").stdin(Stdio::null());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Converting { child, input, output }
    }

    /// Lets it read the recording, and waits for its end.
    fn finish(&mut self) {
        fs::write(&self.input, RECORDING).unwrap();
        assert!(self.child.wait().unwrap().success());
        assert_eq!(fs::read_to_string(&self.output).unwrap(), RECORDING);
    }
}

#[test]
fn work_that_takes_long_shows_a_bar_on_a_terminal_and_none_in_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    // It waits longer than the other one, whose bar says that time enough has gone by.
    let mut piped = Converting::start(folder.path(), false);
    let mut watched = Converting::start(folder.path(), true);
    let mut screen = watched.child.stdout.take().unwrap();
    let shown = within(DEADLINE, move || {
        let (mut shown, mut bytes) = (String::new(), [0; 4096]);
        while !shown.contains("trace convert") {
            let len = screen.read(&mut bytes).unwrap();
            assert!(len > 0, "no bar appears: {shown:?}");
            shown.push_str(&String::from_utf8_lossy(&bytes[..len]));
        }
        (shown, screen)
    });
    let (shown, mut screen) = shown.expect("a bar appears");
    assert!(shown.contains(" 0 B in "), "{shown:?}");
    piped.finish();
    watched.finish();
    let mut said = String::new();
    piped.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
    let mut rest = String::new();
    screen.read_to_string(&mut rest).unwrap();
    assert!(rest.ends_with("\r\u{1b}[2K"), "the bar goes: {rest:?}");
}
