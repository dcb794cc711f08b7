//! The rules.

use crate::Passage;
use crate::sentences::{mask, split};

/// Openings that no sentence may have: such a clause hides the subject that acts.
const HEADLESS: &[&str] = &["who", "whoever", "what", "whatever", "of what", "so many", "so much", "as much"];

/// Words for persons: a program, a reader or a client is "it".
const PERSONS: &[&str] = &["he", "him", "his"];

const SENTENCE_WORDS_MAX: usize = 25;

/// Each sentence of `passages` that breaks a rule, with its place in the text called `name`.
pub(crate) fn complaints(name: &str, passages: &[Passage]) -> Vec<String> {
    let mut found = Vec::new();
    for passage in passages {
        let masked = mask(&passage.text);
        for range in split(&masked) {
            let line = passage.line + masked[..range.start].matches('\n').count();
            if let Some(complaint) = complaint(&masked[range.clone()], passage.is_heading) {
                let sentence: Vec<&str> = passage.text[range].split_whitespace().collect();
                found.push(format!("{name}:{line}: {complaint}: {}", sentence.join(" ")));
            }
        }
    }
    found
}

/// The rule that `sentence` breaks, if it breaks one.
fn complaint(sentence: &str, is_heading: bool) -> Option<String> {
    let words: Vec<String> = sentence
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .filter(|word| !word.is_empty())
        .collect();
    let is_question = sentence.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '?').ends_with('?');
    let start = words.iter().take(2).cloned().collect::<Vec<_>>().join(" ");
    let is_headless =
        HEADLESS.iter().any(|opening| start == *opening || words.first().is_some_and(|word| word == opening));
    if is_headless && !is_heading && !is_question {
        return Some(format!("begins with {:?}", words[0]));
    }
    if let Some(person) = words.iter().find(|word| PERSONS.contains(&word.as_str())) {
        return Some(format!("has {person:?}"));
    }
    (words.len() > SENTENCE_WORDS_MAX).then(|| format!("has {} words", words.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sentence: &str, expected: Option<&str>) {
        let found = complaint(&mask(sentence), false);
        let is_expected = match (&found, expected) {
            (Some(found), Some(start)) => found.starts_with(start),
            (found, expected) => found.is_none() && expected.is_none(),
        };
        assert!(is_expected, "{sentence}: {found:?}");
    }

    #[test]
    fn headless_clauses_are_found() {
        for sentence in [
            "What is read ahead is shown.",
            "\"Whoever\" reads gets it.",
            "**Who** reads, waits.",
            "Of what is read, half is used.",
            "So much is read.",
            "As much as fits is kept.",
            "whatever it says",
        ] {
            check(sentence, Some("begins with"));
        }
        for sentence in
            ["What is it?", "Somewhat so.", "So it is.", "Of all, what?", "`what` is a word.", "{what} ends"]
        {
            check(sentence, None);
        }
        assert_eq!(complaint("What it is", true), None);
    }

    #[test]
    fn persons_are_found() {
        for sentence in ["A reader gets his bytes.", "The client is slow; He waits.", "(for him)"] {
            check(sentence, Some("has \"h"));
        }
        for sentence in ["The `he` is the history of this.", "Ahead."] {
            check(sentence, None);
        }
        assert!(complaint("His word", true).is_some());
    }

    #[test]
    fn long_sentences_are_found() {
        let of = |count: usize| vec!["word"; count].join(" ") + " – `a b c`.";
        check(&of(24), None);
        check(&of(25), Some("has 26 words"));
    }

    #[test]
    fn complaints_name_the_line_and_the_sentence() {
        let text = "One line.\nWhat lies\nhere stays. Two.".to_owned();
        let found = complaints("a.md", &[Passage { line: 7, text, is_heading: false }]);
        assert_eq!(found, ["a.md:8: begins with \"what\": What lies here stays."]);
    }
}
