//! The keys of a configuration file: the long options of `forerun mount`.

use clap::{Arg, ArgAction, Args, Command};

use crate::mount::{MountCommand, Settings};

/// Names less alike than this are no help.
const ALIKE_MIN: f64 = 0.7;

/// The command line of `forerun mount`.
pub(super) fn mount() -> Command {
    MountCommand::augment_args(Command::new("mount")).no_binary_name(true)
}

/// Every option that a file may have.
pub(super) fn options() -> Vec<Arg> {
    let settings = Settings::augment_args(Command::new("mount"));
    settings.get_arguments().filter(|argument| argument.get_long().is_some()).cloned().collect()
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    /// `true` or `false`.
    Switch,
    /// A whole number of repetitions.
    Count,
    /// Text, or a whole number.
    Value,
}

pub(super) fn value_kind(option: &Arg) -> ValueKind {
    match option.get_action() {
        ArgAction::SetTrue => ValueKind::Switch,
        ArgAction::Count => ValueKind::Count,
        _ => ValueKind::Value,
    }
}

/// The option `name`, or else the name of the one that is most alike.
pub(super) fn find(name: &str) -> Result<Arg, Option<String>> {
    let options = options();
    match options.iter().find(|option| option.get_long() == Some(name)) {
        Some(option) => Ok(option.clone()),
        None => Err(nearest(name, options.iter().filter_map(Arg::get_long))),
    }
}

/// The one of `names` that is most like `name`.
pub(super) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let alike = names.map(|other| (strsim::jaro_winkler(name, other), other));
    let best = alike.max_by(|left, right| left.0.total_cmp(&right.0))?;
    (best.0 >= ALIKE_MIN).then(|| best.1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_the_long_options_of_a_mount() {
        let mount = mount();
        let longs: Vec<&str> = mount.get_arguments().filter_map(Arg::get_long).collect();
        let options = options();
        let keys: Vec<&str> = options.iter().filter_map(Arg::get_long).collect();
        let others: Vec<&&str> = longs.iter().filter(|long| !keys.contains(long)).collect();
        assert_eq!(others, [&"daemon"], "only the way into the background is no property of a mount");
    }

    #[test]
    fn a_wrong_name_leads_to_the_nearest() {
        assert_eq!(find("memori").unwrap_err(), Some("memory".to_owned()));
        assert_eq!(find("allow_other").unwrap_err(), Some("allow-other".to_owned()));
        assert_eq!(find("xyzzy").unwrap_err(), None);
    }
}
