//! Sentences of a passage.

use std::ops::Range;

/// A dot at the end of these does not end a sentence.
const ABBREVIATIONS: &[&str] = &["e.g.", "i.e.", "vs.", "cf."];

/// These may stand between the mark that ends a sentence and the next blank.
const CLOSERS: &[char] = &[')', ']', '"', '\'', '”', '*', '_'];

/// The ranges of the sentences of `masked`, which [`mask`] has made.
pub(crate) fn split(masked: &str) -> Vec<Range<usize>> {
    let (mut found, mut start) = (Vec::new(), 0);
    for (at, _) in masked.match_indices(['.', '!', '?']) {
        let rest = masked[at + 1..].trim_start_matches(CLOSERS);
        let end = masked.len() - rest.len();
        let last = masked[start..at + 1].split_whitespace().next_back().unwrap_or_default();
        let is_abbreviation = ABBREVIATIONS.contains(&last.trim_start_matches(['(', '[']));
        if end > start && !is_abbreviation && rest.chars().next().is_none_or(char::is_whitespace) {
            found.push(start..end);
            start = end;
        }
    }
    found.push(start..masked.len());
    found.into_iter().map(|range| trim(masked, range)).filter(|range| !range.is_empty()).collect()
}

fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + part.len() - part.trim_start().len();
    start..start + part.trim().len()
}

/// The end of a link's text and the beginning of its target.
const LINK: &str = "](";

/// `text` with blanks for the targets of links. Each byte of code and of the placeholders of formats is an
/// `X`, so that each of these is one word. The rest stays in its place.
pub(crate) fn mask(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    while let Some(hidden) = next_hidden(&text[masked.len()..]) {
        let from = masked.len();
        masked.push_str(&text[from..from + hidden.start]);
        let filler = if text[masked.len()..].starts_with(LINK) { " " } else { "X" };
        masked.push_str(&filler.repeat(hidden.len()));
    }
    masked.push_str(&text[masked.len()..]);
    masked
}

/// The first range that [`mask`] hides.
fn next_hidden(text: &str) -> Option<Range<usize>> {
    [("``", "``"), ("`", "`"), (LINK, ")"), ("{", "}")]
        .into_iter()
        .filter_map(|(opening, closing)| {
            let start = text.find(opening)?;
            let inside = start + opening.len();
            Some(start..inside + text[inside..].find(closing)? + closing.len())
        })
        .min_by_key(|range| (range.start, std::cmp::Reverse(range.end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, sentences: &[&str]) {
        let found: Vec<&str> = split(&mask(text)).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, sentences);
    }

    #[test]
    fn sentences_end_at_a_mark_before_a_blank() {
        check("One. Two! Three?", &["One.", "Two!", "Three?"]);
        check(
            "It has 1.5 MB in a.md. \"Two.\" (Three.) 4",
            &["It has 1.5 MB in a.md.", "\"Two.\"", "(Three.)", "4"],
        );
        check("And so on... What is it", &["And so on...", "What is it"]);
        check("  \n", &[]);
    }

    #[test]
    fn abbreviations_do_not_end_sentences() {
        check("Use it (e.g. Linux), i.e. What. Not", &["Use it (e.g. Linux), i.e. What.", "Not"]);
    }

    #[test]
    fn code_links_and_placeholders_hide_marks() {
        check("See `a. What b`. Who", &["See `a. What b`.", "Who"]);
        check("See ``a ` b. What``. Who", &["See ``a ` b. What``.", "Who"]);
        check("See [it](a. b.md). Who", &["See [it](a. b.md).", "Who"]);
        check("Not {what. is}: {error}. Who", &["Not {what. is}: {error}.", "Who"]);
        check("An ` alone. What", &["An ` alone.", "What"]);
        assert_eq!(mask("ä `é` ö"), "ä XXXX ö");
    }
}
