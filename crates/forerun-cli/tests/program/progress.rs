//! Bars that show progress on a terminal.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::support::{DEADLINE, forerun, own_address, within};

const RECORDING: &str = "ts_us,op,file_or_dev,offset,length\n0,R,a,0,512\n";

/// Starts `program`. Its standard error is a pipe, or a terminal whose screen is in the pipe of standard output.
fn start(program: Command, is_on_terminal: bool) -> Child {
    let mut command = if is_on_terminal {
        // The command gives a terminal to the program, and shows its screen.
        let words: Vec<_> = std::iter::once(program.get_program()).chain(program.get_args()).collect();
        let mut script = Command::new("script");
        let words = words.join(" ".as_ref());
        script.args(["--quiet", "--return", "--command"]).arg(words).arg("/dev/null");
        script
    } else {
        program
    };
    command.env("TERM", "xterm").stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Reads the screen of `watched` until a bar has `title`. The answer is that, and the rest of the screen.
fn bar_of(watched: &mut Child, title: &'static str) -> (String, ChildStdout) {
    let mut screen = watched.stdout.take().unwrap();
    let shown = within(DEADLINE, move || {
        let (mut shown, mut bytes) = (String::new(), [0; 4096]);
        while !shown.contains(title) {
            let len = screen.read(&mut bytes).unwrap();
            assert!(len > 0, "no bar appears: {shown:?}");
            shown.push_str(&String::from_utf8_lossy(&bytes[..len]));
        }
        (shown, screen)
    });
    shown.expect("a bar appears")
}

/// The text that `piped` has written to standard error.
fn errors_of(mut piped: Child) -> String {
    let mut said = String::new();
    piped.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    said
}

/// `forerun trace convert` of a named pipe, which waits until the test writes the recording.
struct Converting {
    child: Child,
    input: PathBuf,
    output: PathBuf,
}

impl Converting {
    fn start(folder: &Path, is_on_terminal: bool) -> Converting {
        let [input, output] = ["csv", "out"].map(|end| folder.join(format!("{is_on_terminal}.{end}")));
        mknodat(CWD, &input, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let mut convert = forerun();
        convert.args(["trace", "convert", "--to-format", "csv"]).arg(&input).arg(&output);
        Converting { child: start(convert, is_on_terminal), input, output }
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
    let (shown, mut screen) = bar_of(&mut watched.child, "trace convert");
    assert!(shown.contains(" 0 B in "), "{shown:?}");
    piped.finish();
    watched.finish();
    assert_eq!(errors_of(piped.child), "");
    let mut rest = String::new();
    screen.read_to_string(&mut rest).unwrap();
    assert!(rest.ends_with("\r\u{1b}[2K"), "the bar goes: {rest:?}");
}

#[test]
fn work_of_many_steps_shows_how_many_are_done_on_a_terminal_and_nothing_in_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("recording.csv");
    fs::write(&recording, RECORDING).unwrap();
    // It answers no connection, so that no step is ever done.
    let silent = TcpListener::bind((own_address(), 0)).unwrap();
    let [mut piped, mut watched] = [false, true].map(|is_on_terminal| {
        let mut replay = forerun();
        replay.args(["replay", "--policy", "none", "--repeat", "2", "--live"]);
        replay.arg(format!("http://{}/", silent.local_addr().unwrap())).arg(&recording);
        start(replay, is_on_terminal)
    });
    let (shown, _screen) = bar_of(&mut watched, " 0 of 2, ");
    // The other one began first, so it has had the time for a bar as well.
    for child in [&mut watched, &mut piped] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(shown.contains("replay ["), "{shown:?}");
    assert_eq!(errors_of(piped), "");
}
