//! The exit statuses of the program, for its code, help and man pages. A test compares docs/service.md.

use std::fmt::Write;
use std::process::ExitCode;

/// A status, and its meaning as a sentence without a full stop.
pub(crate) struct Status {
    code: u8,
    meaning: &'static str,
}

/// It failed.
pub(crate) const FAILED: Status =
    Status { code: 1, meaning: "It failed, and a sentence on standard error says why" };
/// `forerun doctor` has something to mend.
pub(crate) const FAULT: Status = Status { code: 3, meaning: "`forerun doctor` found a fault" };

/// Every status. `clap` ends the program with 2.
const ALL: [Status; 4] = [
    Status { code: 0, meaning: "The command did what it says" },
    FAILED,
    Status { code: 2, meaning: "The arguments make no sense" },
    FAULT,
];

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(status.code)
    }
}

/// The end of the help.
pub(crate) fn help() -> String {
    ALL.iter().fold("Exit status:".to_owned(), |mut text, status| {
        let _ = write!(text, "\n  {}  {}", status.code, status.meaning);
        text
    })
}

/// The end of each man page.
pub(crate) fn page() -> String {
    ALL.iter().fold(".SH \"EXIT STATUS\"\n".to_owned(), |mut text, status| {
        let _ = write!(text, ".TP\n{}\n{}.\n", status.code, status.meaning);
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_the_same_statuses() {
        let document = include_str!("../../../docs/service.md");
        for status in ALL {
            let row = format!("| {} | {}. |", status.code, status.meaning);
            assert!(document.lines().any(|line| line.starts_with(&row)), "{row} is not in docs/service.md");
        }
        assert!(help().contains("\n  2  The") && page().contains("\n.TP\n2\nThe"), "{}", page());
    }
}
