//! The AWS configuration files.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::apart;
use crate::connect::Environment;
use crate::{Error, ErrorKind, Result};

/// The settings of a section, by name.
pub(super) type Section = BTreeMap<String, String>;

/// The contents of `~/.aws/config` and `~/.aws/credentials`, or of the files that `AWS_CONFIG_FILE`
/// and `AWS_SHARED_CREDENTIALS_FILE` name.
pub(super) struct Files {
    config: String,
    credentials: String,
}

impl Files {
    /// Reads the files.
    ///
    /// # Errors
    /// [`ErrorKind::Denied`] for a file that exists and cannot be read.
    pub(super) async fn read(environment: &Environment) -> Result<Files> {
        let environment = environment.clone();
        apart::run(move || Files::read_now(&environment)).await
    }

    fn read_now(environment: &Environment) -> Result<Files> {
        let place = |variable: &str, file: &str| -> Option<PathBuf> {
            let home = || Some(Path::new(&environment.get("HOME")?).join(".aws").join(file));
            environment.get(variable).map(PathBuf::from).or_else(home)
        };
        Ok(Files {
            config: text(place("AWS_CONFIG_FILE", "config"))?,
            credentials: text(place("AWS_SHARED_CREDENTIALS_FILE", "credentials"))?,
        })
    }

    /// The profile `name`, if either file has it. The credentials file calls its section `NAME`,
    /// the configuration file `profile NAME` (but `default` alone). Credentials take precedence
    /// over configuration.
    pub(super) fn profile(&self, name: &str) -> Option<Section> {
        let mut configured = section(&self.config, &format!("profile {name}"));
        if name == "default" {
            configured = configured.or_else(|| section(&self.config, name));
        }
        let secret = section(&self.credentials, name);
        if configured.is_none() && secret.is_none() {
            return None;
        }
        let mut settings = configured.unwrap_or_default();
        settings.extend(secret.unwrap_or_default());
        Some(settings)
    }

    /// The single sign-on session `name`.
    pub(super) fn session(&self, name: &str) -> Option<Section> {
        section(&self.config, &format!("sso-session {name}"))
    }
}

fn text(file: Option<PathBuf>) -> Result<String> {
    let Some(file) = file else { return Ok(String::new()) };
    match std::fs::read_to_string(&file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => {
            Err(Error::new(ErrorKind::Denied, format!("{}: {error}", file.display())).with_source(error))
        }
    }
}

/// The settings of the section `wanted`. Indented lines belong to a nested setting (`s3 =`), and
/// are skipped.
fn section(text: &str, wanted: &str) -> Option<Section> {
    let mut found: Option<Section> = None;
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

    fn settings<const N: usize>(settings: [(&str, &str); N]) -> Option<Section> {
        Some(settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into())
    }

    #[test]
    fn profiles_are_put_together_from_both_files() {
        let files = |config: &str, credentials: &str| Files {
            config: config.to_owned(),
            credentials: credentials.to_owned(),
        };
        let both = files(CONFIG, CREDENTIALS);
        let default = [
            ("aws_access_key_id", "ID"),
            ("aws_secret_access_key", "a+/secret=with=signs"),
            ("region", "eu-west-1"),
        ];
        let minio = [
            ("aws_access_key_id", "M"),
            ("aws_secret_access_key", "S"),
            ("aws_session_token", "T"),
            ("region", "local"),
            ("endpoint_url", "http://localhost:9000"),
        ];
        assert_eq!(both.profile("default"), settings(default));
        assert_eq!(both.profile("minio"), settings(minio));
        assert_eq!(both.profile("other"), None);
        assert_eq!(files("", "").profile("default"), None);
        assert_eq!(files("[profile empty]\n", "").profile("empty"), settings([]));
        let session = files("[sso-session work]\nsso_region = eu-west-1\n", "").session("work");
        assert_eq!(session, settings([("sso_region", "eu-west-1")]));
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
        let profile = Files::read_now(&environment).unwrap().profile("minio").unwrap();
        assert_eq!((&*profile["aws_access_key_id"], &*profile["region"]), ("M", "local"));
        assert!(
            Files::read_now(&Environment::of([("HOME", "/nowhere")])).unwrap().profile("minio").is_none()
        );
    }
}
