//! The AWS configuration files.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::connect::Environment;
use crate::{Error, ErrorKind, Result};

/// What a profile of `~/.aws/credentials` and `~/.aws/config` says.
#[derive(Clone, Default, PartialEq, Eq)]
#[cfg_attr(test, derive(Debug))]
pub(super) struct Profile {
    pub(super) access_key_id: Option<String>,
    pub(super) secret_access_key: Option<String>,
    pub(super) session_token: Option<String>,
    pub(super) region: Option<String>,
    pub(super) endpoint_url: Option<String>,
}

/// The profile `name`, if either file has it. `AWS_SHARED_CREDENTIALS_FILE` and
/// `AWS_CONFIG_FILE` name other files.
///
/// # Errors
/// [`ErrorKind::Denied`] for a file that is there and cannot be read.
pub(super) fn read(environment: &Environment, name: &str) -> Result<Option<Profile>> {
    let place = |variable: &str, file: &str| -> Option<PathBuf> {
        let home = || Some(Path::new(&environment.get("HOME")?).join(".aws").join(file));
        environment.get(variable).map(PathBuf::from).or_else(home)
    };
    let config = text(place("AWS_CONFIG_FILE", "config"))?;
    let credentials = text(place("AWS_SHARED_CREDENTIALS_FILE", "credentials"))?;
    Ok(parse(&config, &credentials, name))
}

fn text(file: Option<PathBuf>) -> Result<String> {
    let Some(file) = file else { return Ok(String::new()) };
    match std::fs::read_to_string(&file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(Error::new(ErrorKind::Denied, format!("{}: {error}", file.display()))),
    }
}

/// The credentials file names a section as the profile, the configuration file
/// `profile NAME` (but `default` alone); credentials go before configuration.
fn parse(config: &str, credentials: &str, name: &str) -> Option<Profile> {
    let mut section = section(config, &format!("profile {name}"));
    if name == "default" {
        section = section.or_else(|| self::section(config, name));
    }
    let secret = self::section(credentials, name);
    if section.is_none() && secret.is_none() {
        return None;
    }
    let mut settings = section.unwrap_or_default();
    settings.extend(secret.unwrap_or_default());
    let mut take = |key: &str| settings.remove(key);
    Some(Profile {
        access_key_id: take("aws_access_key_id"),
        secret_access_key: take("aws_secret_access_key"),
        session_token: take("aws_session_token"),
        region: take("region"),
        endpoint_url: take("endpoint_url"),
    })
}

/// The settings of the section `wanted`. Indented lines are settings of a
/// setting (`s3 =` and what follows it) and say nothing to us.
fn section(text: &str, wanted: &str) -> Option<BTreeMap<String, String>> {
    let mut found: Option<BTreeMap<String, String>> = None;
    let mut inside = false;
    for line in text.lines().filter(|line| !line.starts_with([' ', '\t', '#', ';'])) {
        if let Some((name, _)) = line.strip_prefix('[').and_then(|header| header.split_once(']')) {
            inside = name.split_whitespace().eq(wanted.split_whitespace());
            if inside {
                found.get_or_insert_default();
            }
        } else if let Some((key, value)) = line.split_once('=').filter(|_| inside) {
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            if let (Some(settings), false) = (&mut found, value.is_empty()) {
                settings.insert(key, value.to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "\
[default]
region = eu-west-1
# a comment = 1
[profile  minio]
endpoint_url=http://localhost:9000
region = local
s3 =
    max_concurrent_requests = 20
    region = nested
";
    const CREDENTIALS: &str = "\
[default]
aws_access_key_id = ID
aws_secret_access_key = a+/secret=with=signs
; another comment

[minio]
aws_access_key_id=M
aws_secret_access_key=S
aws_session_token=T
";

    #[test]
    fn profiles_are_put_together_from_both_files() {
        let text = |text: &str| Some(text.to_owned());
        let default = Profile {
            access_key_id: text("ID"),
            secret_access_key: text("a+/secret=with=signs"),
            region: text("eu-west-1"),
            ..Profile::default()
        };
        let minio = Profile {
            access_key_id: text("M"),
            secret_access_key: text("S"),
            session_token: text("T"),
            region: text("local"),
            endpoint_url: text("http://localhost:9000"),
        };
        assert_eq!(parse(CONFIG, CREDENTIALS, "default"), Some(default));
        assert_eq!(parse(CONFIG, CREDENTIALS, "minio"), Some(minio));
        assert_eq!(parse(CONFIG, CREDENTIALS, "other"), None);
        assert_eq!(parse("", "", "default"), None);
        assert_eq!(parse("[profile empty]\n", "", "empty"), Some(Profile::default()));
    }

    #[test]
    fn files_are_where_the_environment_says() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".aws")).unwrap();
        std::fs::write(home.path().join(".aws/credentials"), CREDENTIALS).unwrap();
        let other = home.path().join("config elsewhere");
        std::fs::write(&other, CONFIG).unwrap();
        let home = home.path().to_str().unwrap();
        let environment = Environment::of([("HOME", home), ("AWS_CONFIG_FILE", other.to_str().unwrap())]);
        let profile = read(&environment, "minio").unwrap().unwrap();
        assert_eq!((profile.access_key_id.as_deref(), profile.region.as_deref()), (Some("M"), Some("local")));
        assert!(read(&Environment::of([("HOME", "/nowhere")]), "minio").unwrap().is_none());
    }
}
