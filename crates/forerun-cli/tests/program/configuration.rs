//! The file of `forerun run`: its keys, their effect, and their change while mounts run.

use std::fs;
use std::path::Path;

use super::mount::source_and_directory;
use super::run::{Run, line_of, listed, process_of};
use super::support::{forerun, output, unmount};

const MOUNT: &str = "[[mount]]\nurl = \"s3://bucket\"\ntarget = \"/nowhere\"\n";

/// The status of `forerun run --check` of the file f.toml that has `text`, and its message.
fn check(text: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f.toml");
    fs::write(&file, text).unwrap();
    let output = output(forerun().args(["run", "--check", "--config"]).arg(&file));
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// Whether the kernel has the option `noexec` for the mount on `directory`.
fn is_noexec(directory: &Path) -> bool {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let line = mounts.lines().find(|line| line.contains(directory.to_str().unwrap())).unwrap();
    line.split(' ').nth(3).unwrap().split(',').any(|option| option == "noexec")
}

#[test]
fn a_file_is_checked_without_mounting() {
    let (code, said) = check(MOUNT);
    assert!(code == Some(0) && said.contains("lists 1 mounts"), "{said}");
    let (code, said) = check(&format!("{MOUNT}memry = \"1GiB\"\n"));
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("/f.toml, line 4: ")
            && said.contains("memry")
            && said.contains("nearest key is memory"),
        "{said}"
    );
}

#[test]
fn every_option_that_the_help_of_mount_shows_is_a_key() {
    let help = String::from_utf8(output(forerun().args(["help", "mount"])).stdout).unwrap();
    let options =
        help.lines().filter_map(|line| line.strip_prefix("      --").or(line.strip_prefix("  -v, --")));
    let mut seen = 0;
    for option in options {
        let (name, rest) = option.split_at(option.find([' ', '.']).unwrap_or(option.len()));
        let value = match rest {
            "" => "true",
            "..." => "1",
            _ => "\"x\"",
        };
        let (code, said) = check(&format!("{name} = {value}\n{MOUNT}"));
        match name {
            "daemon" => assert!(code == Some(1) && said.contains("there is no key daemon"), "{said}"),
            // The text is no value of some options, which the message then names.
            "metrics" => assert!(code == Some(0) || said.contains("address \"x\" is unknown"), "{said}"),
            _ => assert!(code == Some(0) || said.contains(&format!("value 'x' for '--{name} <")), "{said}"),
        }
        seen += 1;
    }
    assert!(seen > 20, "only {seen} options in {help}");
}

#[test]
fn an_unknown_value_is_answered_with_the_values_as_on_the_command_line() {
    let said = output(forerun().args(["mount", "--policy", "quick", "/", "/nowhere"])).stderr;
    let said = String::from_utf8(said).unwrap();
    let values = said.lines().map(str::trim).find(|line| line.starts_with("[possible values: none, "));
    let values = values.unwrap_or_else(|| panic!("{said}"));
    let (code, said) = check(&format!("{MOUNT}policy = \"quick\"\n"));
    assert!(code == Some(1) && said.contains("/f.toml, line 4: ") && said.contains(values), "{said}");
}

#[test]
fn an_address_of_metrics_that_is_unknown_is_refused() {
    for (text, line) in [
        (format!("{MOUNT}metrics = \"no such host\"\n"), 4),
        (format!("metrics = \"localhost:port\"\n{MOUNT}"), 1),
    ] {
        let (code, said) = check(&text);
        let place = format!("/f.toml, line {line}: metrics: the address ");
        assert!(code == Some(1) && said.contains(&place), "{said}");
        assert!(said.contains("give HOST or HOST:PORT"), "{said}");
    }
    for address in ["localhost", "127.0.0.1:9102", "unix:/run/metrics.sock"] {
        let (code, said) = check(&format!("metrics = \"{address}\"\n{MOUNT}"));
        assert_eq!(code, Some(0), "{said}");
    }
}

#[test]
fn options_of_the_file_count_and_those_of_the_command_line_go_before_them() {
    let place = source_and_directory();
    let text = format!("noexec = true\nmemory = \"64MiB\"\n{}", listed(&[&place]));
    let runs: [(&[&str], &str); 2] = [(&[], "64 MiB"), (&["--memory", "16MiB"], "16 MiB")];
    for (options, memory) in runs {
        let mut run = Run::of(&text, &[&place], |command| command.args(options));
        run.wait_for("1 of 1");
        let line = line_of(place.1.path());
        assert!(line.contains(&format!(" of {memory} in use")), "{line}");
        assert!(is_noexec(place.1.path()));
        assert_eq!(run.end(), Some(0));
    }
}

#[test]
fn an_option_that_is_changed_counts_once_its_mount_is_made_anew() {
    let places = [source_and_directory(), source_and_directory()];
    let [other, changed] = [&places[0], &places[1]];
    let directory = changed.1.path();
    let text = listed(&[other, changed]);
    let mut run = Run::saying(&text, &[other, changed]);
    run.wait_for("2 of 2");
    let process = process_of(directory);
    let text = format!("{text}noexec = true\n");
    run.change(&text);
    let shown = directory.display();
    let advice = format!("on {shown} keeps its options: run `forerun unmount {shown}` and reload again");
    assert!(run.has_said(&advice, 1));
    run.wait_for("2 of 2");
    assert_eq!(process_of(directory), process);
    assert!(!is_noexec(directory));
    unmount(directory);
    run.wait_for("1 of 1");
    run.change(&text);
    run.wait_for("2 of 2");
    assert!(is_noexec(directory));
    assert_eq!(run.end(), Some(0));
}
