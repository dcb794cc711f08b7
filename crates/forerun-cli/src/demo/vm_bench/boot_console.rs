//! The serial console of a machine that boots.

use std::collections::VecDeque;

/// The begin of the lines that the image prints for this program.
const MARK: &str = "forerun-vm: ";
/// Enough to see where a boot has stopped.
const LAST_LINES_MAX: usize = 12;

/// A step of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BootStep {
    /// All services have started, and a shell runs.
    Shell,
    /// `grep -r` has ended, with this result.
    Grep(String),
}

/// The lines so far.
#[derive(Debug, Default)]
pub(super) struct BootConsole {
    last_lines: VecDeque<String>,
}

impl BootConsole {
    /// Takes the next line. Returns the step that it tells.
    pub(super) fn hear(&mut self, line: &[u8]) -> Option<BootStep> {
        let line = String::from_utf8_lossy(line);
        // Boot loaders move the cursor.
        let line: String = line.trim().chars().filter(|letter| !letter.is_control()).collect();
        if line.is_empty() {
            return None;
        }
        let step = step_in(&line);
        self.last_lines.push_back(line);
        if self.last_lines.len() > LAST_LINES_MAX {
            self.last_lines.pop_front();
        }
        step
    }

    /// The last lines, for an error.
    pub(super) fn last_lines(&self) -> String {
        if self.last_lines.is_empty() {
            return "its console is empty".to_owned();
        }
        let lines: Vec<_> = self.last_lines.iter().map(String::as_str).collect();
        format!("the console ends with:\n{}", lines.join("\n"))
    }
}

/// The step that `line` tells. A message of the kernel may come before it.
pub(super) fn step_in(line: &str) -> Option<BootStep> {
    let (_, told) = line.trim().split_once(MARK)?;
    match told.strip_prefix("grep ") {
        Some(result) => Some(BootStep::Grep(result.to_owned())),
        None => (told == "shell").then_some(BootStep::Shell),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_found_among_other_lines() {
        let mut console = BootConsole::default();
        assert_eq!(console.hear(b"\x1b[2J\x1b[1;1HLoading Linux ...\r\n"), None);
        assert_eq!(console.hear(b"forerun-vm: shells are many\r\n"), None);
        assert_eq!(console.hear(b"[    4.2] random: forerun-vm: shell\r\n"), Some(BootStep::Shell));
        let result = BootStep::Grep("10 files, 0af3".to_owned());
        assert_eq!(console.hear(b"forerun-vm: grep 10 files, 0af3\r\n"), Some(result));
        assert_eq!(console.hear(b"shell\n"), None);
    }

    #[test]
    fn keeps_the_last_lines_for_an_error() {
        let mut console = BootConsole::default();
        assert_eq!(console.last_lines(), "its console is empty");
        for number in 0..20 {
            console.hear(format!("\x1b[1mline {number}\r\n\r\n").as_bytes());
            console.hear(b"\r\n");
        }
        let text = console.last_lines();
        assert!(text.starts_with("the console ends with:\n[1mline 8\n[1mline 9\n"), "{text}");
        assert!(text.ends_with("line 19"), "{text}");
    }
}
