//! The credentials of clients.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hyper::header::HeaderValue;
use s3s::auth::SecretKey;

/// Keys, passwords and tokens, of which each opens everything. With none of a protocol nobody may use it, and with
/// none at all everybody may read.
#[derive(Default)]
pub struct Credentials {
    /// Access keys and secret keys of S3.
    keys: Vec<(String, String)>,
    /// `Authorization` headers of plain HTTP that open everything, and their users. A token has none.
    headers: Vec<(String, Option<String>)>,
}

impl Credentials {
    /// Parses lines of `s3 ACCESS-KEY SECRET-KEY`, `basic USER PASSWORD` and `bearer TOKEN`. Empty lines and
    /// those with `#` in front do not count.
    ///
    /// # Errors
    /// If a line is something else, or if there is none. The error has no secrets.
    pub fn parse(text: &str) -> Result<Credentials, String> {
        let mut credentials = Credentials::default();
        for (index, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                [] => {}
                [first, ..] if first.starts_with('#') => {}
                ["s3", key, secret] => credentials.keys.push((key.to_owned(), secret.to_owned())),
                ["basic", user, password] if !user.contains(':') => {
                    let encoded = BASE64_STANDARD.encode(format!("{user}:{password}"));
                    credentials.headers.push((format!("Basic {encoded}"), Some(user.to_owned())));
                }
                ["bearer", token] => credentials.headers.push((format!("Bearer {token}"), None)),
                _ => {
                    let line = index + 1;
                    return Err(format!(
                        "line {line} is none of `s3 ACCESS-KEY SECRET-KEY`, `basic USER PASSWORD` and `bearer TOKEN`"
                    ));
                }
            }
        }
        match credentials.is_empty() {
            true => Err("there are no credentials in it".to_owned()),
            false => Ok(credentials),
        }
    }

    /// Whether everybody may read.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.headers.is_empty()
    }

    /// The secret key that belongs to an access key.
    pub(super) fn secret_of(&self, access_key: &str) -> Option<SecretKey> {
        let found = self.keys.iter().find(|(key, _)| key == access_key)?;
        Some(SecretKey::from(found.1.as_str()))
    }

    /// Whether a request of plain HTTP with this `Authorization` header may read.
    pub(super) fn allow(&self, header: Option<&str>) -> bool {
        self.is_empty()
            || header.is_some_and(|header| self.headers.iter().any(|(own, _)| is_same(own, header)))
    }

    /// The user of a request of plain HTTP with this `Authorization` header.
    pub(super) fn user_of(&self, header: Option<&HeaderValue>) -> Option<&str> {
        let header = header?.to_str().ok()?;
        self.headers.iter().find(|(own, _)| is_same(own, header))?.1.as_deref()
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

/// Whether `given` is `own`, in a time that does not tell how much of it is. The scheme may be written in
/// any case.
fn is_same(own: &str, given: &str) -> bool {
    let (Some((own_scheme, own)), Some((scheme, given))) = (own.split_once(' '), given.split_once(' '))
    else {
        return false;
    };
    let given = given.trim_start();
    let differing = own.bytes().zip(given.bytes()).fold(0, |all, (own, given)| all | (own ^ given));
    own_scheme.eq_ignore_ascii_case(scheme)
        && own.len() == given.len()
        && std::hint::black_box(differing) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_credential_opens_its_protocol() {
        let text = "# keys\n\ns3 AKIA secret\nbasic ann pass word\n";
        assert!(Credentials::parse(text).unwrap_err().contains("line 4"));
        let credentials = Credentials::parse("s3 AKIA secret\nbasic ann password\nbearer t0k\n").unwrap();
        assert!(credentials.allow(Some("Basic YW5uOnBhc3N3b3Jk")));
        assert!(credentials.allow(Some("basic  YW5uOnBhc3N3b3Jk")));
        assert!(credentials.allow(Some("Bearer t0k")));
        let user = |header| credentials.user_of(Some(&HeaderValue::from_static(header)));
        assert_eq!(user("basic YW5uOnBhc3N3b3Jk"), Some("ann"));
        assert_eq!([user("Bearer t0k"), user("Basic YW5uOnBhc3N3b3J"), credentials.user_of(None)], [None; 3]);
        for header in
            [None, Some(""), Some("Bearer"), Some("Bearer t0"), Some("Bearer t0kk"), Some("Basic t0k")]
        {
            assert!(!credentials.allow(header), "{header:?}");
        }
        assert_eq!(credentials.secret_of("AKIA").unwrap().expose(), "secret");
        assert!(credentials.secret_of("other").is_none());
        assert!(!format!("{credentials:?}").contains("secret"));
    }

    #[test]
    fn no_credentials_are_an_error_in_a_file_and_allow_all_without_one() {
        assert!(Credentials::parse("# none\n").unwrap_err().contains("no credentials"));
        assert!(Credentials::default().allow(None));
    }
}
