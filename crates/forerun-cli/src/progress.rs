//! The progress of work that takes longer than a moment, for people who watch a terminal.
//!
//! A bar appears two seconds after the work began, and goes when it ends. Files and pipes get none.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use parking_lot::Mutex;

/// Work that is done sooner has no bar.
const DELAY: Duration = Duration::from_secs(2);
/// How often a bar is drawn although nothing has happened.
const INTERVAL: Duration = Duration::from_millis(250);

/// The bar of this program, so that lines are printed above it.
static CURRENT: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// The progress of one piece of work. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    /// The thread that draws, and its end.
    drawing: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Work called `title` that has `count` steps, which [`Progress::set`] changes.
    pub(crate) fn steps(title: &str, count: usize) -> Progress {
        Progress::start(title, Some(count as u64), "{prefix} [{wide_bar}] {pos} of {len}, {eta} left")
    }

    /// Work called `title` that reads `bytes`, or as many as come if that is 0.
    pub(crate) fn bytes(title: &str, bytes: u64) -> Progress {
        match bytes {
            0 => Progress::start(title, None, "{prefix} {spinner} {bytes} in {elapsed}"),
            bytes => Progress::start(
                title,
                Some(bytes),
                "{prefix} [{wide_bar}] {bytes} of {total_bytes}, {eta} left",
            ),
        }
    }

    /// Work called `title` that does not tell how much of it is done.
    pub(crate) fn unknown(title: &str) -> Progress {
        Progress::start(title, None, "{prefix} {spinner} {elapsed}")
    }

    /// One more step is done.
    pub(crate) fn advance(&self) {
        self.bar.inc(1);
    }

    /// `done` of `all` steps are done. Threads may say so in any order.
    pub(crate) fn set(&self, done: usize, all: usize) {
        self.bar.set_length(all as u64);
        self.bar.update(|state| state.set_pos(state.pos().max(done as u64)));
    }

    /// `file`, whose bytes count when they are read.
    pub(crate) fn read(&self, file: File) -> impl Read + Send + 'static {
        self.bar.wrap_read(file)
    }

    fn start(title: &str, len: Option<u64>, template: &str) -> Progress {
        let style = ProgressStyle::with_template(template).expect("a template of this file");
        let bar = ProgressBar::with_draw_target(len, ProgressDrawTarget::hidden());
        bar.set_style(style.progress_chars("=> ").tick_chars("-\\|/ "));
        bar.set_prefix(title.to_owned());
        let drawing = is_wanted(io::stderr().is_terminal(), std::env::var_os("TERM").as_deref()).then(|| {
            let (end, ended) = channel();
            let drawn = bar.clone();
            *CURRENT.lock() = Some(bar.clone());
            (end, std::thread::spawn(move || draw(&drawn, &ended)))
        });
        Progress { bar, drawing }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.drawing.take() {
            drop(end);
            // Nothing is drawn after this.
            let _ = thread.join();
            self.bar.finish_and_clear();
            *CURRENT.lock() = None;
        }
    }
}

/// Whether somebody watches who would see a bar as one line.
fn is_wanted(is_terminal: bool, terminal: Option<&OsStr>) -> bool {
    is_terminal && terminal.is_none_or(|kind| kind != "dumb")
}

/// Draws `bar` from [`DELAY`] on until the work has `ended`.
fn draw(bar: &ProgressBar, ended: &Receiver<()>) {
    let mut wait = DELAY;
    while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        if bar.is_hidden() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar.tick();
        wait = INTERVAL;
    }
}

/// Prints by `print` while no bar is on the terminal.
pub(crate) fn above<T>(print: impl FnOnce() -> T) -> T {
    let current = CURRENT.lock().clone();
    match current {
        Some(bar) => bar.suspend(print),
        None => print(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_terminal_that_can_draw_over_a_line_gets_a_bar() {
        let table = [
            (true, Some("xterm"), true),
            (true, None, true),
            (true, Some("dumb"), false),
            (false, Some("xterm"), false),
        ];
        for (is_terminal, kind, expected) in table {
            assert_eq!(is_wanted(is_terminal, kind.map(OsStr::new)), expected, "{is_terminal} {kind:?}");
        }
    }

    #[test]
    fn a_step_that_is_told_late_does_not_go_back() {
        let progress = Progress::steps("test", 4);
        progress.set(2, 4);
        progress.set(1, 4);
        progress.advance();
        assert_eq!((progress.bar.position(), progress.bar.length()), (3, Some(4)));
    }
}
