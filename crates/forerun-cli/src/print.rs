//! Standard output and standard error. A reader that has closed them has seen enough, as `head` has:
//! that is no failure.

use std::io::{self, ErrorKind, Write};
use std::sync::Once;

use terminal_size::{Width, terminal_size_of};

use crate::progress::above;

/// Writes `text`, or nothing if the reader has closed the output.
///
/// # Errors
/// If it cannot be written for another reason, such as a full disk.
pub(crate) fn show(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match above(|| out.write_all(text.as_bytes()).and_then(|()| out.flush())) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
        done => done?,
    }
    let advice = terminal_size_of(io::stdout()).and_then(|(Width(width), _)| advice(text, width.into()));
    if let Some(advice) = advice {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| say(&advice));
    }
    Ok(())
}

/// How to see lines that a terminal of `width` columns breaks; nothing if there are none.
fn advice(text: &str, width: usize) -> Option<String> {
    let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let breaks = longest > width;
    breaks.then(|| {
        format!("lines have up to {longest} columns, and the terminal {width}; `| less -S` shows them whole")
    })
}

/// Writes a line to standard error, which may be closed: a terminal that was closed is no
/// reason to leave a mount behind.
pub(crate) fn tell(line: &str) {
    let _ = above(|| io::stderr().write_all(format!("{line}\n").as_bytes()));
}

/// Tells that the program says so.
pub(crate) fn say(message: &str) {
    tell(&format!("forerun: {message}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_a_terminal_breaks_are_said_with_their_remedy() {
        assert_eq!(advice("ab\nabcd\n", 4), None);
        let advice = advice("ab\nabcdé\n", 4).expect("a line of five columns");
        assert!(advice.contains("up to 5 columns, and the terminal 4; `| less -S`"), "{advice}");
    }
}
