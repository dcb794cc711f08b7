//! Options that were given, in a file or on the command line.

use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::keys::{self, ValueKind};
use crate::mount::Settings;

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Switch(bool),
    Count(u8),
    Text(OsString),
}

/// Values by the name of their option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Given(BTreeMap<String, Value>);

impl Given {
    pub(super) fn set(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    /// These, and for the rest those of `other`.
    pub(super) fn or(&self, other: &Given) -> Given {
        let mut all = other.0.clone();
        all.extend(self.0.clone());
        Given(all)
    }

    /// These but the one called `name`.
    pub(super) fn without(&self, name: &str) -> Given {
        let mut rest = self.0.clone();
        rest.remove(name);
        Given(rest)
    }

    /// The options that `matches` has from its command line, and not by default.
    fn of_command_line(matches: &ArgMatches) -> Given {
        let mut given = Given::default();
        for option in keys::options() {
            let (id, Some(name)) = (option.get_id().as_str(), option.get_long()) else { continue };
            if matches.value_source(id) != Some(ValueSource::CommandLine) {
                continue;
            }
            let value = match keys::value_kind(&option) {
                ValueKind::Switch => Value::Switch(true),
                ValueKind::Count => Value::Count(matches.get_count(id)),
                ValueKind::Value => {
                    let last = matches.get_raw(id).and_then(Iterator::last);
                    Value::Text(last.unwrap_or_default().to_owned())
                }
            };
            given.set(name, value);
        }
        given
    }

    /// As arguments of `forerun mount`.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let mut arguments = Vec::new();
        for (name, value) in &self.0 {
            match value {
                Value::Switch(is_on) => arguments.extend(is_on.then(|| format!("--{name}").into())),
                Value::Count(count) => {
                    arguments.extend(std::iter::repeat_n(format!("--{name}").into(), usize::from(*count)));
                }
                Value::Text(text) => {
                    let mut argument = OsString::from(format!("--{name}="));
                    argument.push(text);
                    arguments.push(argument);
                }
            }
        }
        arguments
    }
}

/// The options of a mount on a command line, of which only the given ones are kept.
impl Args for Given {
    fn augment_args(command: Command) -> Command {
        Settings::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Settings::augment_args_for_update(command)
    }
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Given, clap::Error> {
        Ok(Given::of_command_line(matches))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Given::of_command_line(matches).or(self);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_two_wins_and_a_switch_can_be_off() {
        let (mut first, mut second) = (Given::default(), Given::default());
        first.set("allow-other", Value::Switch(false));
        first.set("verbose", Value::Count(2));
        second.set("allow-other", Value::Switch(true));
        second.set("memory", Value::Text("1G".into()));
        let arguments = first.or(&second).arguments();
        assert_eq!(arguments, ["--memory=1G", "--verbose", "--verbose"]);
    }
}
