//! String literals of the sources: messages, captions and reports.

use std::path::Path;

use crate::Passage;

/// Shorter texts are names, not sentences.
const WORDS_MIN: usize = 4;

/// Whether `path`, from the root of the repository, is a source of the product rather than a test of it.
pub(crate) fn is_program(path: &Path) -> bool {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.get(2).is_some_and(|folder| folder == "src")
        && !parts.iter().any(|part| part == "tests" || part == "tests.rs")
}

/// The literals of `source` that have some words and are not in an item for tests only.
pub(crate) fn passages(source: &str) -> Vec<Passage> {
    let mut found = Vec::new();
    let mut rest = source;
    while !rest.is_empty() {
        if rest.starts_with("#[cfg(test)]") {
            rest = after_item(rest);
            continue;
        }
        let token = token(rest);
        if let Some(text) = &token.text {
            let line = source[..source.len() - rest.len()].matches('\n').count() + 1;
            found.extend(paragraphs(text).map(|text| Passage { line, text, is_heading: false }));
        }
        rest = &rest[token.len..];
    }
    found.retain(|passage| passage.text.split_whitespace().count() >= WORDS_MIN);
    found
}

/// The parts of a literal between empty lines and before indented ones.
fn paragraphs(text: &str) -> impl Iterator<Item = String> {
    let mut parts = vec![String::new()];
    for line in text.lines() {
        if line.trim().is_empty() || line.starts_with(' ') {
            parts.push(String::new());
        }
        if let Some(last) = parts.last_mut() {
            last.push_str(line);
            last.push(' ');
        }
    }
    parts.into_iter()
}

/// The beginning of a source: a literal with its text, or anything that is none.
struct Token {
    len: usize,
    text: Option<String>,
}

fn token(rest: &str) -> Token {
    let other = |len| Token { len, text: None };
    if rest.starts_with("//") {
        return other(rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return other(rest.find("*/").map_or(rest.len(), |at| at + 2));
    }
    let bare = rest.strip_prefix('b').unwrap_or(rest);
    let prefix = rest.len() - bare.len();
    if let Some(hashes) = raw_hashes(bare) {
        let start = prefix + hashes.len() + 2;
        let len = rest[start..].find(&format!("\"{hashes}")).unwrap_or(rest.len() - start);
        return Token {
            len: start + len + hashes.len() + 1,
            text: Some(rest[start..start + len].to_owned()),
        };
    }
    if bare.starts_with('"') {
        let len = quoted_len(bare, '"');
        return Token { len: prefix + len, text: Some(unescape(&bare[1..len - 1])) };
    }
    if bare.starts_with('\'') {
        let mut chars = bare.chars().skip(1);
        let is_character = chars.next() == Some('\\') || chars.next() == Some('\'');
        return other(prefix + if is_character { quoted_len(bare, '\'') } else { 1 });
    }
    // A word as a whole: its last letter is not the prefix of a literal.
    let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    other(word.max(rest.chars().next().map_or(0, char::len_utf8)))
}

/// The hashes of the raw literal that `text` begins with.
fn raw_hashes(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('r')?;
    let hashes = &inside[..inside.len() - inside.trim_start_matches('#').len()];
    inside[hashes.len()..].starts_with('"').then_some(hashes)
}

/// The length of the literal between two of `quote` that `text` begins with.
fn quoted_len(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !is_escaped {
            return at + 1;
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    text.len()
}

fn unescape(text: &str) -> String {
    let (mut plain, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let mut chars = after.chars();
        match chars.next() {
            Some('\n') => rest = after.trim_start(),
            Some('n') => {
                plain.push('\n');
                rest = chars.as_str();
            }
            Some('u') => {
                let (digits, behind) = chars.as_str().split_once('}').unwrap_or_default();
                let number = u32::from_str_radix(digits.trim_start_matches('{'), 16).ok();
                plain.extend(number.and_then(char::from_u32));
                rest = behind;
            }
            escaped => {
                plain.extend(escaped);
                rest = chars.as_str();
            }
        }
    }
    plain + rest
}

/// `rest` behind the item that follows the attribute it begins with.
fn after_item(rest: &str) -> &str {
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(c) = rest[at..].chars().next() {
        at += token(&rest[at..]).len;
        match c {
            '{' => depth += 1,
            // At no depth it ends what a last field is in.
            '}' if depth <= 1 => break,
            '}' => depth -= 1,
            ';' if depth == 0 => break,
            _ => {}
        }
    }
    &rest[at..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::complaints;

    #[track_caller]
    fn check(source: &str, texts: &[(usize, &str)]) {
        let found = passages(source);
        let found: Vec<_> = found.iter().map(|passage| (passage.line, passage.text.trim_end())).collect();
        assert_eq!(found, texts);
    }

    #[test]
    fn literals_of_every_form_are_found() {
        check("f(\"one two three\");\nf(\"a b c d\")", &[(2, "a b c d")]);
        check("let s = \"a \\\"b\\\" \\\n      c\\u{2019}s d\\ne\";", &[(1, "a \"b\" c’s d e")]);
        check(
            "b\"a b c d\"; r\"e f \\ h\"; r#\"i \"j\" k l\"#",
            &[(1, "a b c d"), (1, "e f \\ h"), (1, "i \"j\" k l")],
        );
        check("\"a b c d\n\n  e f g h\n  i\"", &[(1, "a b c d"), (1, "  e f g h")]);
    }

    #[test]
    fn comments_characters_and_lifetimes_are_not_literals() {
        check("// \"a b c d\"\n/* \"a b c d\" */ ('\"', b'\"', '\\'', \"a b c d\")", &[(2, "a b c d")]);
        check("fn f<'a>(x: &'a str) { g(\"a b c d\") } number\"\"", &[(1, "a b c d")]);
    }

    #[test]
    fn tests_are_left_out() {
        check(
            "#[cfg(test)]\nmod t { fn f() { g(\"}\", \"a b c d\") } }\n#[cfg(test)]\nmod u;\nf(\"e f g h\")",
            &[(5, "e f g h")],
        );
        check("struct S {\n#[cfg(test)]\nf: T,\n}\nf(\"a b c d\")", &[(5, "a b c d")]);
        let is = |path: &str| is_program(Path::new(path));
        assert!(is("crates/a/src/b/c.rs"));
        assert!(!is("crates/a/src/b/tests.rs") && !is("crates/a/tests/b.rs") && !is("crates/a/benches/b.rs"));
    }

    #[test]
    fn bad_messages_are_found() {
        let source = "x\nf(\"what it holds is hidden\", \"{what} is not hidden here\")";
        let found = complaints("a.rs", &passages(source));
        assert_eq!(found, ["a.rs:2: begins with \"what\": what it holds is hidden"]);
    }
}
