//! Comments of the sources.

use crate::{Passage, markdown};

/// The markers of comments, longest first.
const MARKERS: &[&str] = &["///", "//!", "//"];

/// A line that names the source of a constant. Tools read it.
const SOURCE: &str = "//=";

/// The paragraphs, items of lists and cells of tables in the comments of `source`, without blocks of code.
pub(crate) fn passages(source: &str) -> Vec<Passage> {
    let lines: Vec<&str> = source.lines().map(|line| text(line).unwrap_or_default()).collect();
    markdown::passages(&lines.join("\n"))
}

/// The text of `line`, if it is a comment.
fn text(line: &str) -> Option<&str> {
    let line = line.trim_start();
    if line.starts_with(SOURCE) {
        return None;
    }
    MARKERS.iter().find_map(|marker| line.strip_prefix(marker))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::complaints;

    #[track_caller]
    fn check(source: &str, bad: &[&str]) {
        assert_eq!(complaints("a.rs", &passages(source)), bad);
    }

    #[test]
    fn comments_of_every_form_are_found() {
        check("//! What it is.\n\nfn f() {}", &["a.rs:1: begins with \"what\": What it is."]);
        check("fn f() {\n    /// Who reads.", &["a.rs:2: begins with \"who\": Who reads."]);
        check(
            "    // It ends.\n    // So much for that.",
            &["a.rs:2: begins with \"so\": So much for that."],
        );
    }

    #[test]
    fn a_sentence_ends_with_its_comment() {
        let words = "word ".repeat(20);
        check(
            &format!("/// {words}\nx: u64,\n/// {words}\n///\n/// {words}\n/// * {words}\n/// * {words}"),
            &[],
        );
        check(
            &format!("/// {words}\n/// {words}"),
            &[&format!("a.rs:1: has 40 words: {} {0}", words.trim())],
        );
    }

    #[test]
    fn code_and_sources_are_left_out() {
        check("//= what, whoever\n/// ```text\n/// What it is.\n/// ```\nlet a = \"// b\"; what();", &[]);
    }
}
