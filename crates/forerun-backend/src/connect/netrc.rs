//! Users and passwords of web servers in `~/.netrc`.

use std::io;
use std::path::{Path, PathBuf};

use url::Url;

use super::Environment;
use crate::{Error, ErrorKind, Result};

/// Adds to `url` the user and password that `~/.netrc`, or the file named by `NETRC`, has for its
/// host. A password in `url` stays; a user in `url` selects among the file's entries.
///
/// # Errors
/// [`ErrorKind::Denied`] for a file that exists and cannot be read.
pub(super) fn complete(url: &mut Url, environment: &Environment) -> Result<()> {
    let named = environment.get("NETRC").map(PathBuf::from);
    let usual = || Some(Path::new(&environment.get("HOME")?).join(".netrc"));
    let (is_named, Some(file)) = (named.is_some(), named.or_else(usual)) else { return Ok(()) };
    if url.password().is_some() {
        return Ok(());
    }
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !is_named => return Ok(()),
        Err(error) => {
            let message = format!("{} cannot be read: {error}; set NETRC to another file", file.display());
            return Err(Error::new(ErrorKind::Denied, message).with_source(error));
        }
    };
    let user = Some(url.username()).filter(|user| !user.is_empty()).map(str::to_owned);
    let Some(login) = find(&text, url.host_str().unwrap_or_default(), user.as_deref()) else {
        return Ok(());
    };
    crate::warn_if_others_read(&file);
    // Neither call fails for a URL with a host.
    let _ = (url.set_username(&login.user), url.set_password(Some(&login.password)));
    Ok(())
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Login {
    user: String,
    password: String,
}

/// The first entry for `host` and, if given, `user`; otherwise the default entry.
fn find(text: &str, host: &str, user: Option<&str>) -> Option<Login> {
    let mut words = Words(text);
    let mut entry: Option<(bool, Login)> = None;
    let is_meant = |entry: &(bool, Login)| {
        entry.0 && !entry.1.user.is_empty() && user.is_none_or(|user| user == entry.1.user)
    };
    while let Some(word) = words.next() {
        match &*word {
            "machine" | "default" => {
                if entry.as_ref().is_some_and(is_meant) {
                    break;
                }
                let is_host = word == "default" || words.next()?.eq_ignore_ascii_case(host);
                entry = Some((is_host, Login::default()));
            }
            "login" | "user" | "password" | "account" => {
                let value = words.next()?;
                match (&mut entry, &*word) {
                    (Some((_, login)), "login" | "user") => login.user = value,
                    (Some((_, login)), "password") => login.password = value,
                    _ => {}
                }
            }
            "macdef" => words.skip_macro(),
            comment if comment.starts_with('#') => words.skip_line(),
            _ => {}
        }
    }
    entry.filter(is_meant).map(|(_, login)| login)
}

/// The words that are left, between blanks or in quotes.
struct Words<'a>(&'a str);

impl Words<'_> {
    /// A macro ends at an empty line.
    fn skip_macro(&mut self) {
        self.0 = self.0.split_once("\n\n").map_or("", |(_, rest)| rest);
    }

    fn skip_line(&mut self) {
        self.0 = self.0.split_once('\n').map_or("", |(_, rest)| rest);
    }
}

impl Iterator for Words<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.0 = self.0.trim_start();
        let is_quoted = self.0.starts_with('"');
        let mut letters = self.0.char_indices().skip(usize::from(is_quoted));
        let mut word = String::new();
        while let Some((place, letter)) = letters.next() {
            match letter {
                '"' if is_quoted => {
                    self.0 = &self.0[place + 1..];
                    return Some(word);
                }
                '\\' if is_quoted => word.extend(letters.next().map(|(_, letter)| letter)),
                // A comment ends with its line: the blank stays.
                letter if letter.is_whitespace() && !is_quoted => {
                    self.0 = &self.0[place..];
                    return Some(word);
                }
                letter => word.push(letter),
            }
        }
        self.0 = "";
        (!word.is_empty()).then_some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
# machine one login no password no
machine one login ann password a#1 account x   # the first
machine two
    login bob
    password \"two \\\"words\\\"\"
macdef init
machine three login in password macro

machine three user eve
machine two login carl password back\\slash
machine Four login dora
\tpassword d
default login anyone password \"\"
";

    fn found(host: &str, user: Option<&str>) -> Option<(String, String)> {
        find(FILE, host, user).map(|login| (login.user, login.password))
    }

    #[test]
    fn entries_are_found_by_host_and_user() {
        let pair = |user: &str, password: &str| Some((user.to_owned(), password.to_owned()));
        assert_eq!(found("one", None), pair("ann", "a#1"));
        assert_eq!(found("two", None), pair("bob", "two \"words\""));
        assert_eq!(found("two", Some("carl")), pair("carl", "back\\slash"));
        assert_eq!(found("two", Some("nobody")), None);
        assert_eq!(found("three", None), pair("eve", ""));
        assert_eq!(found("four", None), pair("dora", "d"));
        assert_eq!(found("five", None), pair("anyone", ""));
        assert_eq!(find("machine one login a password b", "two", None), None);
    }

    #[test]
    fn files_that_are_cut_short_have_no_entry() {
        for text in
            ["", "machine", "machine one", "machine one login", "machine one password x", "macdef x", "\"one"]
        {
            assert_eq!(find(text, "one", None), None, "{text}");
        }
        assert!(find("machine one login a password", "one", None).is_none());
    }

    #[test]
    fn the_password_in_the_url_wins() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("netrc");
        std::fs::write(&file, "machine host login bob password \"p@ss word\"\n").unwrap();
        let completed = |url: &str, variable: &str, value: &str| {
            let mut url: Url = url.parse().unwrap();
            complete(&mut url, &Environment::of([(variable, value)])).map(|()| url.to_string())
        };
        let file = file.to_str().unwrap();
        for (url, is) in [
            ("http://host/a", "http://bob:p%40ss%20word@host/a"),
            ("http://bob@host/a", "http://bob:p%40ss%20word@host/a"),
            ("http://ann@host/a", "http://ann@host/a"),
            ("http://ann:x@host/a", "http://ann:x@host/a"),
            ("http://other/a", "http://other/a"),
        ] {
            assert_eq!(completed(url, "NETRC", file).unwrap(), is);
        }
        assert_eq!(completed("http://host/a", "HOME", "/nowhere").unwrap(), "http://host/a");
        let error = completed("http://host/a", "NETRC", "/nowhere/netrc").unwrap_err();
        assert!(error.message.contains("/nowhere/netrc cannot be read"), "{error}");
    }
}
