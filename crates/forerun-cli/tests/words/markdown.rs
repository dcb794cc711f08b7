//! Passages of a Markdown document.

use crate::Passage;
use crate::sentences::mask;

/// The paragraphs, headings, items of lists and cells of tables, without blocks of code.
pub(crate) fn passages(document: &str) -> Vec<Passage> {
    let lines: Vec<&str> = document.lines().map(|line| line.trim_start_matches([' ', '>'])).collect();
    let (mut found, mut fence, mut is_open) = (Vec::<Passage>::new(), None, false);
    for (at, line) in lines.iter().enumerate() {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        if mark.is_some() && (fence.is_none() || fence == mark) {
            fence = if fence.is_none() { mark } else { None };
            is_open = false;
            continue;
        }
        if fence.is_some() || line.trim().is_empty() {
            is_open = false;
            continue;
        }
        let (text, is_heading) = match line.trim_start_matches('#') {
            heading if heading.len() < line.len() => (heading, true),
            _ => (item(line).unwrap_or(line), false),
        };
        let passage = |text: &str, is_heading| Passage { line: at + 1, text: text.to_owned(), is_heading };
        if line.starts_with('|') {
            let is_header = lines.get(at + 1).is_some_and(|next| is_rule(next));
            found.extend(cells(line).map(|cell| passage(cell, is_header)));
            is_open = false;
        } else if is_open && !is_heading && item(line).is_none() {
            if let Some(last) = found.last_mut() {
                last.text.push('\n');
                last.text.push_str(text);
            }
        } else {
            found.push(passage(text, is_heading));
            is_open = !is_heading;
        }
    }
    found
}

/// The text of an item of a list.
fn item(line: &str) -> Option<&str> {
    let after_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = if after_number.len() < line.len() { after_number.strip_prefix(". ") } else { None };
    numbered.or_else(|| ["* ", "- ", "+ "].into_iter().find_map(|mark| line.strip_prefix(mark)))
}

/// Whether `line` separates the header of a table from its rows.
fn is_rule(line: &str) -> bool {
    line.starts_with('|') && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

fn cells(line: &str) -> impl Iterator<Item = &str> {
    let mut start = 0;
    let mut ranges = Vec::new();
    for (at, _) in mask(line).match_indices('|') {
        ranges.push(start..at);
        start = at + 1;
    }
    ranges.push(start..line.len());
    ranges
        .into_iter()
        .filter(|_| !is_rule(line))
        .map(|range| line[range].trim())
        .filter(|cell| !cell.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::complaints;

    #[track_caller]
    fn check(document: &str, bad: &[&str]) {
        let found = complaints("a.md", &passages(document));
        let places: Vec<String> =
            found.iter().map(|text| text.split(": ").take(2).collect::<Vec<_>>().join(": ")).collect();
        assert_eq!(places, bad, "{found:?}");
    }

    #[test]
    fn bad_sentences_are_found_wherever_they_stand() {
        check("Fine.\n\nFine\nand so. What is\nbad.", &["a.md:4: begins with \"what\""]);
        check(
            "* What is bad.\n  1. Who is bad.",
            &["a.md:1: begins with \"what\"", "a.md:2: begins with \"who\""],
        );
        check(
            "Text:\n- fine\n  on and on. So much.\n- what",
            &["a.md:3: begins with \"so\"", "a.md:4: begins with \"what\""],
        );
        check("> What is bad.", &["a.md:1: begins with \"what\""]);
        check("[What](b.md) is bad.", &["a.md:1: begins with \"what\""]);
        check("| a | b |\n|---|:-:|\n| fine | What is bad |\n", &["a.md:3: begins with \"what\""]);
    }

    #[test]
    fn code_headings_and_questions_are_left_alone() {
        check("```\nWhat\n```\n~~~sh\n# who\n```\n~~~\nEnd.", &[]);
        check("# What it is\ntext\n## Who needs it\nWhat is it?", &[]);
        check("| What | his `a \\| b` |\n|---|---|\n| `what | ever` | fine |", &["a.md:1: has \"his\""]);
        check("`what` is fine. See [this](what.md). `a. What b`", &[]);
    }

    #[test]
    fn a_passage_ends_with_its_block() {
        let words = "word ".repeat(20);
        check(
            &format!("{words}\n* {words}\n* {words}\n\n{words}\n# {words}\n{words}\n```\n```\n{words}"),
            &[],
        );
        check(&format!("{words}\n{words}"), &["a.md:1: has 40 words"]);
    }
}
