//! Hosts that name buckets: `BUCKET.DOMAIN` has the objects of `DOMAIN/BUCKET`.

use std::borrow::Cow;

use hyper::Request;
use hyper::header::HOST;
use s3s::S3Result;
use s3s::host::{S3Host, VirtualHost};

/// The domain of a server. Each host right below it is one of its buckets.
#[derive(Clone, Debug)]
pub struct Domain(String);

impl Domain {
    /// The domain of this name, as in `s3.example.org`.
    ///
    /// # Errors
    /// If it is no name of a host.
    pub fn new(name: &str) -> Result<Domain, String> {
        let is_label = |label: &str| {
            let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
            (1..=63).contains(&label.len()) && label.bytes().all(is_inner)
        };
        // The last part of an address is a number.
        let is_address =
            name.rsplit('.').next().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
        if is_address || !name.split('.').all(is_label) {
            return Err(format!(
                "the domain {name:?} cannot be used: give a host name without a port, as in s3.example.org"
            ));
        }
        Ok(Domain(name.to_ascii_lowercase()))
    }

    /// The path of `request`, after the bucket that its host names if there is a `domain`.
    pub(super) fn path_of<'a, B>(domain: Option<&Domain>, request: &'a Request<B>) -> Cow<'a, str> {
        let path = request.uri().path();
        let header = request.headers().get(HOST).and_then(|host| host.to_str().ok());
        let host = header.or_else(|| request.uri().authority().map(|authority| authority.as_str()));
        let bucket = domain.zip(host).and_then(|(domain, host)| domain.bucket_of(host));
        bucket.map_or(Cow::Borrowed(path), |bucket| Cow::Owned(format!("/{bucket}{path}")))
    }

    /// The bucket that `host` names, which may have a port.
    fn bucket_of(&self, host: &str) -> Option<String> {
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name).to_ascii_lowercase();
        let bucket = name.strip_suffix(&self.0)?.strip_suffix('.')?;
        (!bucket.is_empty()).then(|| bucket.to_owned())
    }
}

impl S3Host for Domain {
    fn parse_host_header<'a>(&'a self, host: &'a str) -> S3Result<VirtualHost<'a>> {
        let found = VirtualHost::new(self.0.as_str());
        Ok(match self.bucket_of(host) {
            Some(bucket) => found.with_bucket(bucket),
            None => found,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_below_the_domain_is_a_bucket() {
        let domain = Domain::new("S3.example.org").unwrap();
        for (host, bucket) in [
            ("data.s3.example.org", Some("data")),
            ("Data.S3.example.org:9100", Some("data")),
            ("a.b.s3.example.org", Some("a.b")),
            ("s3.example.org", None),
            (".s3.example.org", None),
            ("my-s3.example.org", None),
            ("data.example.org", None),
            ("localhost:9100", None),
            ("[::1]:9100", None),
        ] {
            assert_eq!(domain.bucket_of(host).as_deref(), bucket, "{host}");
        }
    }

    #[test]
    fn a_domain_is_a_host_name() {
        for name in ["localhost", "s3.example.org", "a-1.b"] {
            assert!(Domain::new(name).is_ok(), "{name}");
        }
        for name in ["", ".", "a..b", "localhost:9100", "127.0.0.1", "0.1", "[::1]", "a/b", "a b"] {
            assert!(Domain::new(name).unwrap_err().contains("without a port"), "{name}");
        }
    }
}
