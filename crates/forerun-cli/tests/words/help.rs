//! The help of the real program.

use std::process::{Command, Stdio};

use crate::Passage;

/// Commands that the list of commands leaves out; those below them are found.
const HIDDEN: &[&str] =
    &["bench", "bench-client", "bench-kernel", "bench-kernel-reader", "demo-store", "generate"];

/// Every command with its help, as in "forerun help trace cut".
pub(crate) fn commands() -> Vec<(String, String)> {
    let mut todo: Vec<Vec<String>> = HIDDEN.iter().map(|name| vec![(*name).to_owned()]).collect();
    todo.push(Vec::new());
    let mut found = Vec::new();
    while let Some(path) = todo.pop() {
        let text = help(&path);
        todo.extend(below(&text).map(|name| path.iter().cloned().chain([name]).collect()));
        found.push((format!("forerun help {}", path.join(" ")), text));
    }
    found
}

/// The help of the command `path`, without line breaks inside paragraphs.
fn help(path: &[String]) -> String {
    let done = Command::new(env!("CARGO_BIN_EXE_forerun"))
        .arg("help")
        .args(path)
        .env("COLUMNS", "10000")
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    assert!(done.status.success(), "help {path:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("help is text")
}

/// The commands that `text` lists.
fn below(text: &str) -> impl Iterator<Item = String> + '_ {
    let list = text.lines().skip_while(|line| *line != "Commands:").skip(1);
    let rows = list.take_while(|line| line.starts_with("  "));
    rows.filter_map(|row| row.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned)
}

/// Each line, or each of its columns, without the defaults and values that `clap` adds.
pub(crate) fn passages(text: &str) -> Vec<Passage> {
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for column in line.split("  ").map(str::trim) {
            let own =
                [" [default: ", " [possible values: "].iter().filter_map(|mark| column.find(mark)).min();
            let text = column[..own.unwrap_or(column.len())].to_owned();
            found.push(Passage { line: at + 1, text, is_heading: false });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::complaints;

    #[test]
    fn commands_are_found_below_commands() {
        let text = "Words\n\nCommands:\n  mount    Mount it\n  help     Print\n\nOptions:\n  -h  Help";
        assert_eq!(below(text).collect::<Vec<_>>(), ["mount"]);
        let commands = commands();
        let has = |name: &str| commands.iter().any(|(command, _)| command == name);
        assert!(has("forerun help ") && has("forerun help lab device") && has("forerun help bench"));
        assert!(!has("forerun help help"));
    }

    #[test]
    fn bad_sentences_are_found_in_both_columns_and_in_paragraphs() {
        let text =
            "What it does.\n\n      --only <WHAT>  Who reads\n          Fine. So much [default: what]\n";
        let found = complaints("help", &passages(text));
        assert_eq!(
            found,
            [
                "help:1: begins with \"what\": What it does.",
                "help:3: begins with \"who\": Who reads",
                "help:4: begins with \"so\": So much",
            ]
        );
        let long = format!("a  {}[possible values: {}]", "word ".repeat(25), "word ".repeat(25));
        assert_eq!(complaints("help", &passages(&long)), [""; 0]);
    }
}
