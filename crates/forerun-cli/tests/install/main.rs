//! `make install-program` and `make uninstall`.

mod completions;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_forerun");

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {output:?}");
    output
}

/// Runs `make target` for an installation below `root`, with these `variables` besides.
fn make(target: &str, root: &Path, variables: &[&str]) {
    let mut command = Command::new("make");
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).arg(target).args(variables);
    run(command.arg(format!("DESTDIR={}", root.display())).arg(format!("program={PROGRAM}")));
}

fn installed() -> TempDir {
    let root = tempfile::tempdir().unwrap();
    make("install-program", root.path(), &[]);
    root
}

/// The files below `folder`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let below = |entry: fs::DirEntry| {
        if entry.file_type().unwrap().is_dir() { files(&entry.path()) } else { vec![entry.path()] }
    };
    entries.flat_map(below).collect()
}

/// The unit `name` of an installation with the prefix `prefix` below `root`.
fn unit(root: &Path, prefix: &str, name: &str) -> String {
    fs::read_to_string(root.join(prefix).join("lib/systemd/system").join(name)).unwrap()
}

/// The commands that the help of `command` lists.
fn listed(command: &[String]) -> Vec<Vec<String>> {
    let help = run(Command::new(PROGRAM).arg("help").args(command)).stdout;
    let help = String::from_utf8(help).unwrap();
    let rows = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let rows = rows.take_while(|line| line.starts_with("  ")).filter(|row| !row.starts_with("   "));
    let names = rows.filter_map(|row| row.split_whitespace().next()).filter(|name| *name != "help");
    names.map(|name| [command, &[name.to_owned()]].concat()).collect()
}

#[test]
fn every_command_of_the_help_has_a_page_that_man_shows() {
    let root = installed();
    let pages = root.path().join("usr/local/share/man/man1");
    let (mut commands, mut seen) = (vec![Vec::new()], 0);
    while let Some(command) = commands.pop() {
        commands.extend(listed(&command));
        let name = [&["forerun".to_owned()], &command[..]].concat().join("-");
        let page = fs::read_to_string(pages.join(format!("{name}.1"))).unwrap_or_else(|_| panic!("{name}"));
        assert!(page.contains(".TH ") && page.contains(".SH NAME\n"), "{name}: {page}");
        assert!(page.contains(".SH \"EXIT STATUS\"\n"), "{name}: {page}");
        seen += 1;
    }
    assert_eq!(fs::read_dir(&pages).unwrap().count(), seen, "hidden commands have none");
    assert!(seen > 15, "only {seen} pages");
    if Command::new("man").arg("--version").output().is_ok() {
        let page = pages.join("forerun-mount.1");
        let mut man = Command::new("man");
        let shown = run(man.env("MANPAGER", "cat").env("MANWIDTH", "80").arg("-l").arg(page)).stdout;
        let shown = String::from_utf8_lossy(&shown);
        assert!(shown.contains("--memory") && shown.contains("Examples:"), "{shown}");
    }
}

#[test]
fn files_can_be_read_by_everybody_and_are_removed_again() {
    let root = installed();
    for other in ["sbin/mount.forerun", "usr/local/share/man/man8/mount.forerun.8"] {
        assert!(fs::symlink_metadata(root.path().join(other)).is_ok(), "{other}");
    }
    for file in files(root.path()) {
        if fs::read_link(&file).is_ok_and(|target| target == Path::new("/usr/local/bin/forerun")) {
            assert!(file.ends_with("sbin/mount.forerun"), "{}", file.display());
            continue;
        }
        let mode = fs::symlink_metadata(&file).unwrap().permissions().mode() & 0o777;
        let expected = if file.ends_with("bin/forerun") { 0o755 } else { 0o644 };
        assert_eq!(format!("{mode:o}"), format!("{expected:o}"), "{}", file.display());
    }
    make("uninstall", root.path(), &[]);
    assert_eq!(files(root.path()), Vec::<PathBuf>::new());
}

#[test]
fn units_start_the_program_which_tells_that_it_is_ready_and_answers() {
    let root = installed();
    let units: [(&str, &[&str]); 2] = [
        (
            "forerun.service",
            &["ExecStart=/usr/local/bin/forerun run ", "ExecReload=/bin/kill -HUP $MAINPID\n"],
        ),
        ("forerun@.service", &["ExecStart=/usr/local/bin/forerun mount "]),
    ];
    for (name, own_lines) in units {
        let unit = unit(root.path(), "usr/local", name);
        for line in own_lines.iter().chain(&["Type=notify\n", "WatchdogSec=", "Restart=on-failure\n"]) {
            assert!(unit.contains(&format!("\n{line}")), "{name} has no {line:?}: {unit}");
        }
    }
}

#[test]
fn units_take_rights_away_and_leave_those_that_a_mount_needs() {
    let root = installed();
    for name in ["forerun.service", "forerun@.service"] {
        let unit = unit(root.path(), "usr/local", name);
        let (_, service) = unit.split_once("\n[Service]\n").unwrap();
        let lines: Vec<&str> = service.lines().take_while(|line| !line.starts_with('[')).collect();
        for line in [
            "NoNewPrivileges=yes",
            // It mounts, and reads the files of every user.
            "CapabilityBoundingSet=CAP_SYS_ADMIN CAP_DAC_READ_SEARCH",
            "DevicePolicy=closed",
            "DeviceAllow=/dev/fuse rw",
            "LockPersonality=yes",
            "MemoryDenyWriteExecute=yes",
            "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6",
            "RestrictNamespaces=yes",
            "RestrictRealtime=yes",
            "RestrictSUIDSGID=yes",
            "SystemCallArchitectures=native",
            "SystemCallFilter=@system-service @mount",
            // /var/lib/forerun, for profiles. The sockets of `forerun explain` are below /run.
            "StateDirectory=forerun",
        ] {
            assert!(lines.contains(&line), "{name} has no {line}: {service}");
        }
        // These give a service a mount namespace, from which others do not see its mounts, or another user.
        let prefixes =
            ["Protect", "Private", "Bind", "Root", "TemporaryFileSystem", "Mount", "User", "DynamicUser"];
        let keys = lines.iter().filter_map(|line| Some(line.split_once('=')?.0));
        let others: Vec<&str> = keys
            .filter(|key| key.ends_with("Paths") || prefixes.iter().any(|prefix| key.starts_with(prefix)))
            .collect();
        assert!(others.is_empty(), "{name}: {others:?}");
    }
}

#[test]
fn another_prefix_has_every_file_but_the_name_that_mount_looks_for() {
    let root = tempfile::tempdir().unwrap();
    make("install-program", root.path(), &["PREFIX=/opt/f"]);
    let mut outside = files(root.path());
    outside.retain(|file| !file.starts_with(root.path().join("opt/f")));
    assert_eq!(outside, [root.path().join("sbin/mount.forerun")]);
    assert_eq!(fs::read_link(&outside[0]).unwrap(), Path::new("/opt/f/bin/forerun"));
    assert!(root.path().join("opt/f/bin/forerun").is_file());
    for name in ["forerun.service", "forerun@.service"] {
        let unit = unit(root.path(), "opt/f", name);
        assert!(unit.contains("\nExecStart=/opt/f/bin/forerun ") && !unit.contains("/usr/local"), "{unit}");
    }
    make("uninstall", root.path(), &["PREFIX=/opt/f"]);
    assert_eq!(files(root.path()), Vec::<PathBuf>::new());
}
