//! The completions of the shells.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{installed, listed, run};

const BASH: &str = "bash-completion/completions/forerun";
const ZSH: &str = "zsh/site-functions/_forerun";
const FISH: &str = "fish/vendor_completions.d/forerun.fish";

/// The commands that a script offers behind a command.
type Offer = fn(&Path, &[String]) -> BTreeSet<String>;

/// Asks bash itself, which also offers options and shows the names of values.
fn of_bash(file: &Path, command: &[String]) -> BTreeSet<String> {
    let script = "source \"$1\" && shift && COMP_WORDS=(\"$@\" '') COMP_CWORD=$# && _forerun forerun '' \"${@: -1}\" \
                  && printf '%s\\n' \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", script, "bash"]).arg(file).arg("forerun").args(command);
    let words = String::from_utf8(run(&mut bash).stdout).unwrap();
    words.lines().filter(|word| word.starts_with(char::is_alphabetic)).map(str::to_owned).collect()
}

/// Reads the function that has the commands, as in `'mount:Mount a URL'`.
fn of_zsh(file: &Path, command: &[String]) -> BTreeSet<String> {
    let text = fs::read_to_string(file).unwrap();
    assert!(text.starts_with("#compdef forerun\n"), "{text}");
    let parts: String = command.iter().map(|name| format!("__subcmd__{name}")).collect();
    let head = format!("\n_forerun{parts}_commands() {{\n");
    let (_, body) = text.split_once(&head).unwrap_or_else(|| panic!("no function {head}"));
    let lines = body.lines().take_while(|line| *line != "}");
    let names = lines.filter_map(|line| line.strip_prefix('\'')?.split_once(':'));
    names.map(|(name, _)| name.to_owned()).collect()
}

/// Reads the lines whose condition is that the command is given and none below it.
fn of_fish(file: &Path, command: &[String]) -> BTreeSet<String> {
    let begin = match command {
        [] => "complete -c forerun -n \"__fish_forerun_needs_command\" ".to_owned(),
        [name] => format!("complete -c forerun -n \"__fish_forerun_using_subcommand {name}; and not "),
        _ => panic!("{command:?} has commands below it, which this test does not know"),
    };
    let text = fs::read_to_string(file).unwrap();
    let lines = text.lines().filter(|line| line.starts_with(&begin));
    lines.filter_map(|line| Some(line.split_once(" -a \"")?.1.split_once('"')?.0.to_owned())).collect()
}

#[test]
fn every_shell_offers_the_commands_of_the_help_and_no_others() {
    let root = installed();
    let share = root.path().join("usr/local/share");
    let shells: [(&str, Offer); 3] = [(BASH, of_bash), (ZSH, of_zsh), (FISH, of_fish)];
    let (mut commands, mut seen) = (vec![Vec::new()], 0);
    while let Some(command) = commands.pop() {
        let below = listed(&command);
        if below.is_empty() {
            continue;
        }
        let mut names: BTreeSet<String> = below.iter().filter_map(|below| below.last()).cloned().collect();
        names.insert("help".to_owned());
        for (file, offer) in shells {
            assert_eq!(offer(&share.join(file), &command), names, "{file} behind {command:?}");
        }
        commands.extend(below);
        seen += names.len();
    }
    assert!(seen > 20, "only {seen} commands");
}

#[test]
fn completions_load_in_their_shells() {
    let root = installed();
    let file = |name: &str| -> PathBuf { root.path().join("usr/local/share").join(name) };
    let script = "source \"$1\" && COMP_WORDS=(forerun expl) COMP_CWORD=1 && _forerun forerun expl forerun \
                  && echo \"${COMPREPLY[@]}\" && complete -p forerun";
    let said = run(Command::new("bash").args(["--norc", "-c", script, "bash"]).arg(file(BASH))).stdout;
    let said = String::from_utf8(said).unwrap();
    assert!(said.starts_with("explain\n") && said.contains("-F _forerun "), "{said}");
    // Machines without the other shells only read their files, in the test above.
    for (shell, name) in [("zsh", ZSH), ("fish", FISH)] {
        if Command::new(shell).arg("--version").output().is_ok() {
            run(Command::new(shell).arg("-n").arg(file(name)));
        }
    }
}
