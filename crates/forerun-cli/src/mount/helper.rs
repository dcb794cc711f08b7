//! `mount.forerun`: the program as `mount -t forerun URL DIR -o OPTIONS` calls it, for /etc/fstab too.

use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use clap::{Args, Command, FromArgMatches};

use super::{MountCommand, Remount, daemon};
use crate::print::say;

/// The name that `mount` calls the program by.
const NAME: &str = "mount.forerun";

/// The statuses of mount(8): the call makes no sense, and the mount failed.
const MISUSE: u8 = 1;
const FAILED: u8 = 32;

/// Options for others than the file system, and those that a read-only mount meets anyway. `mount`
/// gives `rw` if nothing is said.
const IGNORED: &[&str] = &[
    "ro",
    "rw",
    "defaults",
    "auto",
    "noauto",
    "user",
    "nouser",
    "users",
    "owner",
    "group",
    "_netdev",
    "nofail",
    "suid",
    "nosuid",
    "dev",
    "nodev",
    "exec",
    "async",
    "sync",
    "dirsync",
    "atime",
    "noatime",
    "diratime",
    "nodiratime",
    "relatime",
    "norelatime",
    "strictatime",
    "nostrictatime",
    "lazytime",
    "nolazytime",
];
const IGNORED_PREFIXES: &[&str] = &["x-", "X-", "comment=", "user=", "uhelper=", "helper="];

/// The program was asked for something by `mount`.
#[derive(Debug, PartialEq, Eq)]
enum Call {
    /// To mount, with these arguments of `forerun mount`.
    Mount(Vec<OsString>),
    /// To change the options of the kernel.
    Remount(Remount),
    /// To do all but mount (`mount -f`).
    Nothing,
}

/// Whether the program was called as `mount` calls it.
pub(crate) fn is_called(arguments: &[OsString]) -> bool {
    arguments.first().and_then(|name| Path::new(name).file_name()) == Some(OsStr::new(NAME))
}

/// Does what `arguments` ask for; the status is one of mount(8).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let program = MountCommand::augment_args(Command::new(NAME));
    let call = match Call::parse(arguments.get(1..).unwrap_or_default(), &program) {
        Ok(call) => call,
        Err(message) => {
            say(&message);
            return ExitCode::from(MISUSE);
        }
    };
    let done: Result<ExitCode, Box<dyn Error>> = match call {
        Call::Nothing => Ok(ExitCode::SUCCESS),
        Call::Remount(remount) => remount.run(),
        Call::Mount(arguments) => {
            let matches = program.try_get_matches_from(arguments);
            match matches.and_then(|matches| MountCommand::from_arg_matches(&matches)) {
                Ok(mount) => mount.run(),
                Err(error) => {
                    // The other lines tell of `--help`, which `mount` does not pass on.
                    say(error.to_string().lines().next().unwrap_or_default().trim_start_matches("error: "));
                    return ExitCode::from(MISUSE);
                }
            }
        }
    };
    done.unwrap_or_else(|error| {
        daemon::say(&error.to_string());
        ExitCode::from(FAILED)
    })
}

impl Call {
    /// Reads `URL DIR [-sfnv] [-o OPTIONS] [-t TYPE] [-N NAMESPACE]`, in any order.
    fn parse(arguments: &[OsString], program: &Command) -> Result<Call, String> {
        let (mut places, mut lists, mut flags) = (Vec::new(), Vec::new(), String::new());
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.to_str() {
                Some("-o") => lists.extend(rest.next().and_then(|list| list.to_str())),
                Some("-t" | "-N") => drop(rest.next()),
                Some(given) if given.starts_with('-') && given.len() > 1 => flags.push_str(given),
                _ => places.push(argument),
            }
        }
        let [url, directory] = places[..] else {
            return Err(format!("give a URL and a directory: {NAME} URL DIR -o OPTIONS"));
        };
        let list = lists.join(",");
        if list.split(',').any(|option| option == "remount") {
            return Ok(Call::Remount(Remount::of(directory.into(), &list)));
        }
        let mut call = vec![NAME.into(), "--daemon".into()];
        let unknown = translate(&list, program, &mut call)?;
        if !unknown.is_empty() && !flags.contains('s') {
            return Err(format!(
                "`forerun mount` has no option {}: `forerun help mount` lists them",
                unknown.join(", ")
            ));
        }
        call.extend(["--".into(), url.clone(), directory.clone()]);
        Ok(if flags.contains('f') { Call::Nothing } else { Call::Mount(call) })
    }
}

/// Adds the options in `list` to `call`, as `program` knows them. The answer is those that it does not.
fn translate<'a>(list: &'a str, program: &Command, call: &mut Vec<OsString>) -> Result<Vec<&'a str>, String> {
    let mut unknown = Vec::new();
    for option in list.split(',').filter(|option| !option.is_empty()) {
        let is_ignored =
            IGNORED.contains(&option) || IGNORED_PREFIXES.iter().any(|prefix| option.starts_with(prefix));
        if is_ignored {
            continue;
        }
        let (name, value) =
            option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        let long = name.replace('_', "-");
        let Some(argument) = program.get_arguments().find(|argument| argument.get_long() == Some(&long))
        else {
            unknown.push(name);
            continue;
        };
        match (argument.get_action().takes_values(), value) {
            (true, Some(value)) => call.push(format!("--{long}={value}").into()),
            (false, None) => call.push(format!("--{long}").into()),
            (true, None) => return Err(format!("the option {name} needs a value: {name}=VALUE")),
            (false, Some(_)) => {
                return Err(format!("the option {name} takes no value: leave out `=` and the rest"));
            }
        }
    }
    Ok(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Call, String> {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        Call::parse(&arguments, &MountCommand::augment_args(Command::new(NAME)))
    }

    #[test]
    fn options_of_fstab_become_options_of_the_command() {
        let list =
            "rw,noauto,_netdev,nofail,user=me,x-systemd.automount,memory=1GiB,allow_other,retry-timeout=5s";
        let call = parse(&["s3://a/b", "/mnt", "-n", "-v", "-o", list, "-t", "forerun"]).unwrap();
        let expected =
            "mount.forerun --daemon --memory=1GiB --allow-other --retry-timeout=5s -- s3://a/b /mnt";
        assert_eq!(call, Call::Mount(expected.split(' ').map(OsString::from).collect()));
        assert_eq!(parse(&["s3://a", "/mnt", "-f"]), Ok(Call::Nothing));
        assert!(matches!(parse(&["s3://a", "/mnt", "-o", "ro,remount"]), Ok(Call::Remount(_))));
    }

    #[test]
    fn every_option_of_the_command_can_be_given() {
        for argument in MountCommand::augment_args(Command::new(NAME)).get_arguments() {
            let Some(long) = argument.get_long() else { continue };
            let value = if argument.get_action().takes_values() { "=x" } else { "" };
            assert!(parse(&["/a", "/b", "-o", &format!("{long}{value}")]).is_ok(), "{long}");
        }
    }

    #[test]
    fn options_that_make_no_sense_are_named() {
        let error = |list| parse(&["/a", "/b", "-o", list]).unwrap_err();
        assert!(error("ro,memory=1G,write,magic=3").contains("write, magic"));
        assert!(error("memory").contains("memory=VALUE") && error("anonymous=1").contains("anonymous"));
        assert!(parse(&["/a", "/b", "-s", "-o", "magic=3"]).is_ok(), "mount -s");
        assert!(parse(&["/a"]).unwrap_err().contains("a URL and a directory"));
    }
}
