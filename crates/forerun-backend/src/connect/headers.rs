//! Headers for each request to a web server, such as `Authorization: Bearer TOKEN`, from a file
//! that may change.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use object_store::client::{HttpClient, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use url::{Origin, Url};

use crate::{Error, ErrorKind, Result, apart};

/// Headers that the requests have already.
const OWN: [&str; 9] = [
    "accept-encoding",
    "connection",
    "content-length",
    "host",
    "if-match",
    "if-range",
    "if-unmodified-since",
    "range",
    "transfer-encoding",
];

/// A file of headers, one line `Name: value` for each. It is read again when it has changed.
#[derive(Clone)]
pub(super) struct HeaderFile {
    path: PathBuf,
    last: Arc<Mutex<(Stamp, HeaderMap)>>,
}

/// Tells versions of a file apart.
#[derive(Clone, PartialEq, Eq)]
struct Stamp([i64; 6]);

impl HeaderFile {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] for a file that cannot be read, or that has other lines.
    pub(super) async fn open(path: &Path) -> Result<HeaderFile> {
        // A daemon changes to another directory.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        apart::run(move || {
            let (stamp, headers) = read(&path)?;
            crate::warn_if_others_read(&path);
            Ok(HeaderFile { path, last: Arc::new(Mutex::new((stamp, headers))) })
        })
        .await
    }

    /// Whether the file has the header `name`.
    pub(super) fn has(&self, name: &HeaderName) -> bool {
        self.last().1.contains_key(name)
    }

    /// The headers of the file now.
    fn now(&self) -> Result<HeaderMap> {
        let unreadable = |error: io::Error| cannot_read(&self.path, error);
        let stamp = Stamp::of(&fs::metadata(&self.path).map_err(unreadable)?);
        if self.last().0 != stamp {
            let read = read(&self.path)?;
            tracing::info!(
                target: "forerun::store",
                "{} has changed and is used as it is now", self.path.display()
            );
            *self.last() = read;
        }
        Ok(self.last().1.clone())
    }

    fn last(&self) -> std::sync::MutexGuard<'_, (Stamp, HeaderMap)> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stamp {
    fn of(file: &fs::Metadata) -> Stamp {
        let size = file.size().cast_signed();
        let inode = file.ino().cast_signed();
        Stamp([inode, size, file.mtime(), file.mtime_nsec(), file.ctime(), file.ctime_nsec()])
    }
}

fn cannot_read(path: &Path, error: io::Error) -> Error {
    let message = format!(
        "{} cannot be read: {error}; give --header-file a file of lines `Name: value`",
        path.display()
    );
    Error::new(ErrorKind::Invalid, message).with_source(error)
}

fn read(path: &Path) -> Result<(Stamp, HeaderMap)> {
    let unreadable = |error: io::Error| cannot_read(path, error);
    // If the file changes in between, the stamp is older than the text, and it is read once more.
    let stamp = Stamp::of(&fs::metadata(path).map_err(unreadable)?);
    let text = fs::read_to_string(path).map_err(unreadable)?;
    let headers = parse(&text).map_err(|(line, why)| {
        Error::new(ErrorKind::Invalid, format!("{}, line {line}: {why}", path.display()))
    })?;
    Ok((stamp, headers))
}

/// The headers of `text`, or the number of a wrong line and the reason. No value is shown.
fn parse(text: &str) -> Result<HeaderMap, (usize, &'static str)> {
    const FORM: &str = "a header is `Name: value`, as in `Authorization: Bearer TOKEN`";
    let mut headers = HeaderMap::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |why: &'static str| (number + 1, why);
        let (name, value) = line.split_once(':').ok_or(wrong(FORM))?;
        let name: HeaderName = name.trim_end().parse().map_err(|_| wrong(FORM))?;
        let mut value = HeaderValue::from_str(value.trim_start()).map_err(|_| wrong(FORM))?;
        if OWN.contains(&name.as_str()) {
            return Err(wrong("forerun sends this header itself: leave the line out"));
        }
        value.set_sensitive(true);
        headers.append(name, value);
    }
    if headers.is_empty() { Err((1, FORM)) } else { Ok(headers) }
}

/// A client that adds the headers of a file for one server alone: a redirect to another server
/// carries none.
pub(super) struct WithHeaders {
    client: HttpClient,
    origin: Origin,
    file: HeaderFile,
}

impl WithHeaders {
    /// Adds the headers of `file` to requests to the server of `url`. A user and password in a URL
    /// take precedence over `Authorization` in the file.
    pub(super) fn client(client: HttpClient, url: &Url, file: HeaderFile) -> HttpClient {
        HttpClient::new(WithHeaders { client, origin: url.origin(), file })
    }
}

#[async_trait]
impl HttpService for WithHeaders {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let is_home = Url::parse(&request.uri().to_string()).is_ok_and(|url| url.origin() == self.origin);
        if is_home {
            let file = self.file.clone();
            let headers = apart::run(move || file.now()).await;
            let headers = headers.map_err(|error| HttpError::new(HttpErrorKind::Request, error))?;
            let has_user = request.headers().contains_key(AUTHORIZATION);
            for (name, value) in &headers {
                if !(has_user && name == AUTHORIZATION) {
                    request.headers_mut().append(name, value.clone());
                }
            }
        }
        self.client.execute(request).await
    }
}

impl fmt::Debug for WithHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "headers of {} for {}", self.file.path.display(), self.origin.ascii_serialization())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_headers_and_a_wrong_one_is_named_without_its_value() {
        let headers = parse("# a comment\r\n\r\nAuthorization: Bearer a:b\r\nX-Key:1\nx-key: 2").unwrap();
        assert_eq!(headers[AUTHORIZATION], "Bearer a:b");
        assert_eq!(headers.get_all("x-key").iter().collect::<Vec<_>>(), ["1", "2"]);
        for (text, line, why) in [
            ("", 1, "as in `Authorization: Bearer TOKEN`"),
            ("# none\n", 1, "as in `Authorization: Bearer TOKEN`"),
            ("X: 1\nsecret", 2, "a header is `Name: value`"),
            ("a b: secret", 1, "a header is `Name: value`"),
            ("X: \u{7f}secret", 1, "a header is `Name: value`"),
            ("\nRange: bytes=0-1", 2, "forerun sends this header itself"),
        ] {
            let (number, said) = parse(text).unwrap_err();
            assert!(number == line && said.contains(why), "{text:?}: line {number}: {said}");
        }
    }
}
