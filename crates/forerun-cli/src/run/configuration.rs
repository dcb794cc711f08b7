//! The configuration file.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::FromArgMatches;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::given::{Given, Value};
use super::keys::{self, ValueKind};
use crate::mount::{MountCommand, Settings};

/// The tables of mounts, and the keys that only they have.
const MOUNT: &str = "mount";
const URL: &str = "url";
const TARGET: &str = "target";

/// One mount of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) target: PathBuf,
    /// The arguments of `forerun mount`, without those that a running mount can change.
    pub(super) arguments: Vec<OsString>,
    /// How much its process logs, which it can change.
    pub(super) verbose: u8,
}

/// A correct file.
#[derive(Debug)]
pub(super) struct Configuration {
    /// Those of a mount that says nothing itself.
    pub(super) settings: Settings,
    pub(super) mounts: Vec<Mount>,
}

impl Configuration {
    /// Reads `file`. The options `given` on the command line go before it.
    ///
    /// # Errors
    /// A message that names the file, the line and the key.
    pub(super) fn read(file: &Path, given: &Given) -> Result<Configuration, String> {
        Configuration::of(file, given, false)
    }

    /// The same, and looks up the addresses that mounts listen at once they start.
    ///
    /// # Errors
    /// As [`Configuration::read`], or if an address is unknown.
    pub(super) fn check(file: &Path, given: &Given) -> Result<Configuration, String> {
        Configuration::of(file, given, true)
    }

    fn of(file: &Path, given: &Given, has_lookups: bool) -> Result<Configuration, String> {
        let text = fs::read_to_string(file).map_err(|error| {
            format!("{} cannot be read: {error}; name another file by --config", file.display())
        })?;
        Reader { file, text: &text, has_lookups }.read(given)
    }
}

/// A file that is being read.
struct Reader<'a> {
    file: &'a Path,
    text: &'a str,
    /// Whether names of hosts are looked up. At boot a name may be unknown for a while, and only its mount waits.
    has_lookups: bool,
}

type Entry<'a> = (&'a Spanned<DeString<'a>>, &'a Spanned<DeValue<'a>>);

impl Reader<'_> {
    fn read(&self, given: &Given) -> Result<Configuration, String> {
        let table = DeTable::parse(self.text)
            .map_err(|error| self.wrong(&error.span().unwrap_or_default(), error.message()))?;
        let (mut defaults, mut tables) = (Given::default(), None);
        for entry in table.get_ref() {
            match &**entry.0.get_ref() {
                MOUNT => tables = Some(entry.1),
                _ => self.option(entry, &[MOUNT], &mut defaults)?,
            }
        }
        let tables = tables.and_then(|tables| tables.get_ref().as_array()).ok_or_else(|| {
            self.wrong(&(0..0), "no mount is listed: add a table [[mount]] with url and target")
        })?;
        let mut mounts: Vec<Mount> = Vec::new();
        for table in tables {
            let mount = self.mount(table, &defaults, given)?;
            if mounts.iter().any(|other| other.target == mount.target) {
                let shown = mount.target.display();
                return Err(
                    self.wrong(&table.span(), format!("{shown} is the target of two mounts: change one"))
                );
            }
            mounts.push(mount);
        }
        let mut arguments = given.or(&defaults).arguments();
        arguments.extend(["--", "/", "/"].map(OsString::from));
        let settings = self.parse(arguments, &(0..0))?;
        Ok(Configuration { settings, mounts })
    }

    fn mount(&self, table: &Spanned<DeValue<'_>>, defaults: &Given, given: &Given) -> Result<Mount, String> {
        let place = table.span();
        let entries = table.get_ref().as_table().ok_or_else(|| self.wrong(&place, "write [[mount]]"))?;
        let mut own = Given::default();
        let [mut url, mut target] = [None, None];
        for entry in entries {
            let slot = match &**entry.0.get_ref() {
                URL => &mut url,
                TARGET => &mut target,
                _ => {
                    self.option(entry, &[URL, TARGET], &mut own)?;
                    continue;
                }
            };
            let text = entry.1.get_ref().as_str();
            *slot = Some(text.ok_or_else(|| self.wrong(&entry.1.span(), "write it in quotes"))?);
        }
        let (Some(url), Some(target)) = (url, target) else {
            return Err(self.wrong(&place, "a mount needs both url and target"));
        };
        let options = given.or(&own.or(defaults));
        let command = |options: &Given| {
            let mut arguments = options.arguments();
            arguments.extend(["--", url, target].map(OsString::from));
            arguments
        };
        let verbose = self.parse(command(&options), &place)?.log.verbose;
        Ok(Mount { target: target.into(), arguments: command(&options.without("verbose")), verbose })
    }

    /// Adds the option in `entry` to `given`; `others` are further keys of its table.
    fn option(&self, (key, value): Entry<'_>, others: &[&str], given: &mut Given) -> Result<(), String> {
        let name = &**key.get_ref();
        let option = keys::find(name).map_err(|nearest| {
            let nearest = keys::nearest(name, others.iter().copied()).or(nearest);
            let advice = nearest.map_or_else(
                || "`forerun help mount` lists the options".to_owned(),
                |nearest| format!("the nearest key is {nearest}"),
            );
            self.wrong(&key.span(), format!("there is no key {name} here; {advice}"))
        })?;
        let place = value.span();
        let wanted = |what: &str| self.wrong(&place, format!("{name} needs {what}"));
        let value = match (keys::value_kind(&option), value.get_ref()) {
            (ValueKind::Switch, value) => {
                Value::Switch(value.as_bool().ok_or_else(|| wanted("true or false"))?)
            }
            (ValueKind::Count, value) => {
                let number = value.as_integer().and_then(|number| number.as_str().parse().ok());
                Value::Count(number.ok_or_else(|| wanted("a number from 0 to 255"))?)
            }
            (ValueKind::Value, DeValue::String(text)) => Value::Text((&**text).into()),
            (ValueKind::Value, DeValue::Integer(number)) => Value::Text(number.as_str().into()),
            (ValueKind::Value, _) => return Err(wanted("a text in quotes, or a whole number")),
        };
        given.set(name, value.clone());
        // Alone first, so that the message has its line.
        let mut alone = Given::default();
        alone.set(name, value);
        let mut arguments = alone.arguments();
        arguments.extend(["--", "/", "/"].map(OsString::from));
        self.parse(arguments, &place).map(drop)
    }

    fn parse(&self, arguments: Vec<OsString>, place: &Range<usize>) -> Result<Settings, String> {
        let matches = keys::mount().try_get_matches_from(arguments);
        let command =
            matches.and_then(|matches| MountCommand::from_arg_matches(&matches)).map_err(|error| {
                // The message is a paragraph, which may list values. Those behind it tell of the command line.
                let message = error.to_string();
                let lines: Vec<&str> =
                    message.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
                self.wrong(place, lines.join(" ").trim_start_matches("error: "))
            })?;
        let settings = command.into_settings();
        if self.has_lookups {
            settings.monitoring.check().map_err(|error| self.wrong(place, format!("metrics: {error}")))?;
        }
        Ok(settings)
    }

    fn wrong(&self, place: &Range<usize>, message: impl Display) -> String {
        let before = self.text.get(..place.start).unwrap_or_default();
        format!("{}, line {}: {message}", self.file.display(), before.matches('\n').count() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, given: &Given) -> Result<Configuration, String> {
        Reader { file: Path::new("f.toml"), text, has_lookups: false }.read(given)
    }

    const TWO: &str = "memory = \"1GiB\"\nallow-other = true\nverbose = 1\n\
        [[mount]]\nurl = \"s3://a\"\ntarget = \"/a\"\nallow-other = false\n\
        [[mount]]\nurl = \"/b b\"\ntarget = \"/c\"\nmemory = \"64MiB\"\nretry-timeout = 0\nverbose = 3\n";

    #[test]
    fn a_mount_goes_before_the_defaults_and_the_command_line_before_both() {
        let mut given = Given::default();
        let lines = |given: &Given| {
            let found = read(TWO, given).unwrap();
            let line =
                |mount: &Mount| format!("{} {}", mount.arguments.join(" ".as_ref()).display(), mount.verbose);
            (found.settings.engine.memory.bytes, found.mounts.iter().map(line).collect::<Vec<_>>())
        };
        let (memory, mounts) = lines(&given);
        assert_eq!((memory, &*mounts[0]), (1 << 30, "--memory=1GiB -- s3://a /a 1"));
        assert_eq!(mounts[1], "--allow-other --memory=64MiB --retry-timeout=0 -- /b b /c 3");
        given.set("memory", Value::Text("2GiB".into()));
        assert!(lines(&given).1.iter().all(|line| line.contains("--memory=2GiB ")));
    }

    #[test]
    fn a_mistake_is_named_with_its_line_and_the_nearest_key() {
        let error = |text: &str| read(text, &Given::default()).unwrap_err();
        let mount = "[[mount]]\nurl = \"/a\"\ntarget = \"/b\"\n";
        for (text, line, words) in [
            (format!("{mount}memori = \"1G\"\n"), 4, "the nearest key is memory"),
            (format!("\nmemory = \"much\"\n{mount}"), 2, "a size"),
            (format!("{mount}targett = 1\n"), 4, "the nearest key is target"),
            (format!("{mount}allow-other = \"yes\"\n"), 4, "true or false"),
            (format!("policy = \"quick\"\n{mount}"), 1, "--policy <POLICY>' [possible values: none, "),
            (format!("{mount}daemon = true\n"), 4, "no key daemon"),
            (format!("{mount}passthrough = true\nlearn = \"x\"\n"), 1, "cannot be used with"),
            (format!("{mount}{mount}"), 4, "two mounts"),
            ("[[mount]]\nurl = \"/a\"\n".to_owned(), 1, "both url and target"),
            ("memory = \n".to_owned(), 1, ""),
            (String::new(), 1, "no mount is listed"),
        ] {
            let said = error(&text);
            assert!(
                said.starts_with(&format!("f.toml, line {line}: ")) && said.contains(words),
                "{text}: {said}"
            );
        }
    }
}
