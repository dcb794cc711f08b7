//! URLs of RBD: `rbd://POOL/IMAGE@SNAPSHOT?id=NAME&conf=FILE`.

use std::path::PathBuf;

use url::form_urlencoded;

use crate::{Environment, Error, ErrorKind, Result, path};

const FORM: &str = "the URL is rbd://POOL/ or rbd://POOL/IMAGE[@SNAPSHOT], or rbd://POOL/NAMESPACE/IMAGE";

/// The place that a URL names.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RbdUrl {
    pub(super) pool: String,
    pub(super) namespace: Option<String>,
    /// `IMAGE` or `IMAGE@SNAPSHOT`; none for all images of the pool.
    pub(crate) image: Option<String>,
    pub(super) client: CephClient,
}

/// The client that connects. The file and the environment supply what is missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CephClient {
    /// The name without `client.`, such as `admin`.
    pub(super) id: Option<String>,
    pub(super) conf: Option<PathBuf>,
}

impl RbdUrl {
    /// Parses `text`, or returns none if it has another scheme. Names are taken verbatim, as `rbd` does.
    pub(crate) fn parse(text: &str) -> Option<Result<RbdUrl>> {
        let (scheme, rest) = text.split_once("://")?;
        scheme.eq_ignore_ascii_case("rbd").then(|| {
            RbdUrl::of(rest).map_err(|why| {
                let shown = crate::without_secrets(text);
                Error::new(ErrorKind::Invalid, format!("cannot read {shown:?}: {why}; {FORM}"))
            })
        })
    }

    fn of(rest: &str) -> Result<RbdUrl, String> {
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (pool, below) = place.split_once('/').unwrap_or((place, ""));
        if pool.contains('@') {
            return Err("the pool has an @; the client is given as ?id=NAME".to_owned());
        }
        let (namespace, image) = match below.split_once('/') {
            Some((namespace, image)) => (Some(namespace), image),
            None => (None, below),
        };
        let names = [Some(pool), namespace, Some(image).filter(|image| !image.is_empty())];
        if !names.into_iter().flatten().all(path::is_name) {
            return Err(
                "a name is empty, \".\" or \"..\", has a slash or is longer than 255 bytes".to_owned()
            );
        }
        Ok(RbdUrl {
            pool: pool.to_owned(),
            namespace: namespace.map(str::to_owned),
            image: names[2].map(str::to_owned),
            client: CephClient::of_query(query)?,
        })
    }

    /// The same with the client that `environment` names where the URL names none, as other programs of
    /// Ceph choose it.
    pub(crate) fn with_environment(mut self, environment: &Environment) -> RbdUrl {
        let arguments = CephClient::of_arguments(&environment.get("CEPH_ARGS").unwrap_or_default());
        self.client.id = self.client.id.or(arguments.id);
        let conf = || arguments.conf.or_else(|| environment.get("CEPH_CONF").map(PathBuf::from));
        self.client.conf = self.client.conf.or_else(conf);
        self
    }

    /// The URL of all images beside this one.
    pub(super) fn directory(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("rbd://{}/{namespace}/", self.pool),
            None => format!("rbd://{}/", self.pool),
        }
    }
}

impl CephClient {
    fn of_query(query: &str) -> Result<CephClient, String> {
        let mut client = CephClient::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match (&*name, &*value) {
                (_, "") => return Err(format!("{name} has no value")),
                ("id", id) => client.id = Some(bare(id)),
                ("conf", conf) => client.conf = Some(conf.into()),
                _ => return Err(format!("{name} is not known; an option is id=NAME or conf=FILE")),
            }
        }
        Ok(client)
    }

    /// The client that `CEPH_ARGS` names. librados reads the other options of this variable itself, and
    /// leaves these to the program.
    fn of_arguments(arguments: &str) -> CephClient {
        let mut client = CephClient::default();
        let mut words = arguments.split_whitespace();
        while let Some(word) = words.next() {
            let (option, value) = match word.split_once('=') {
                Some((option, value)) if word.starts_with("--") => (option, Some(value)),
                _ => (word, None),
            };
            match option {
                "--id" | "--user" | "-n" | "--name" => client.id = value.or_else(|| words.next()).map(bare),
                "-c" | "--conf" => client.conf = value.or_else(|| words.next()).map(PathBuf::from),
                _ => {}
            }
        }
        client
    }
}

/// The name without its type: all clients are of the type `client`.
fn bare(name: &str) -> String {
    name.strip_prefix("client.").unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> RbdUrl {
        RbdUrl::parse(text).unwrap().unwrap()
    }

    #[test]
    fn a_url_names_a_pool_or_an_image() {
        for (text, directory, image) in [
            ("rbd://vms", "rbd://vms/", None),
            ("RBD://vms/", "rbd://vms/", None),
            ("rbd://vms/disk 1", "rbd://vms/", Some("disk 1")),
            ("rbd://vms/disk@monday", "rbd://vms/", Some("disk@monday")),
            ("rbd://vms/team/", "rbd://vms/team/", None),
            ("rbd://vms/team/d%20k#@s", "rbd://vms/team/", Some("d%20k#@s")),
        ] {
            let url = parse(text);
            assert_eq!((url.directory().as_str(), url.image.as_deref()), (directory, image), "{text}");
        }
        assert!(RbdUrl::parse("s3://vms/disk").is_none());
    }

    #[test]
    fn a_wrong_url_names_its_mistake() {
        for (text, why) in [
            ("rbd://", "a name is empty"),
            ("rbd:///disk", "a name is empty"),
            ("rbd://vms//disk", "a name is empty"),
            ("rbd://vms/a/b/c", "has a slash"),
            ("rbd://vms/..", "\"..\""),
            ("rbd://me@vms/disk", "?id=NAME"),
            ("rbd://vms/disk?keyring=k", "keyring is not known"),
            ("rbd://vms/disk?id", "id has no value"),
        ] {
            let error = RbdUrl::parse(text).unwrap().unwrap_err();
            assert_eq!(error.kind, ErrorKind::Invalid, "{text}");
            assert!(error.message.contains(why) && error.message.contains(FORM), "{error}");
        }
    }

    #[test]
    fn the_client_is_that_of_the_url_or_of_the_environment() {
        let client = |url: &str, variables: &[(&str, &str)]| {
            let client = parse(url).with_environment(&Environment::of(variables.iter().copied())).client;
            (client.id.unwrap_or_default(), client.conf.unwrap_or_default().display().to_string())
        };
        let expected = |id: &str, conf: &str| (id.to_owned(), conf.to_owned());
        let arguments = [("CEPH_ARGS", "--keyring k -n client.a --conf=/b"), ("CEPH_CONF", "/c")];
        assert_eq!(client("rbd://p/i", &[]), expected("", ""));
        assert_eq!(client("rbd://p/i", &[("CEPH_CONF", "/c")]), expected("", "/c"));
        assert_eq!(client("rbd://p/i", &arguments), expected("a", "/b"));
        assert_eq!(client("rbd://p/i", &[("CEPH_ARGS", "--id=x -c y")]), expected("x", "y"));
        assert_eq!(client("rbd://p/i?id=client.z&conf=%2Fa%20b", &arguments), expected("z", "/a b"));
    }
}
