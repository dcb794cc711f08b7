//! The access log: a line for each request, once its answer is complete or broken off.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;

/// The form of its lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogForm {
    /// The Common Log Format, with the milliseconds that the request took behind it, and `broken` if the client did
    /// not get all.
    #[default]
    Common,
    /// A JSON object.
    Json,
}

/// A log that is written line by line.
pub struct AccessLog {
    out: Mutex<Box<dyn Write + Send>>,
    form: LogForm,
}

/// One request.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) peer: Option<SocketAddr>,
    pub(super) at: SystemTime,
    /// Method, target and version. The target has no query, since that may be a signature.
    pub(super) request: String,
    pub(super) status: u16,
    /// Bytes of the body that the connection took.
    pub(super) bytes: u64,
    pub(super) time: Duration,
    /// The client took all of it.
    pub(super) is_complete: bool,
}

impl AccessLog {
    /// A log that is appended to the file at `path`, or goes to standard output if that is `-`.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn open(path: &Path, form: LogForm) -> io::Result<AccessLog> {
        let out: Box<dyn Write + Send> = match path.to_str() {
            Some("-") => Box::new(io::stdout()),
            _ => Box::new(OpenOptions::new().append(true).create(true).open(path)?),
        };
        Ok(AccessLog { out: Mutex::new(out), form })
    }

    pub(super) fn write(&self, record: &Record) {
        let line = match self.form {
            LogForm::Common => record.common(),
            LogForm::Json => record.json(),
        };
        // One call for a line: others may append to the file as well.
        if let Err(error) = self.out.lock().write_all(line.as_bytes()) {
            tracing::warn!(target: "forerun::http", "the access log cannot be written: {error}");
        }
    }
}

impl std::fmt::Debug for AccessLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AccessLog").field("form", &self.form).finish_non_exhaustive()
    }
}

impl Record {
    fn common(&self) -> String {
        let peer = self.peer.map_or_else(|| "-".to_owned(), |peer| peer.ip().to_string());
        let request: String = self.request.chars().flat_map(escaped).collect();
        let Record { status, bytes, .. } = self;
        let end = if self.is_complete { "" } else { " broken" };
        format!(
            "{peer} - - [{}] \"{request}\" {status} {bytes} {}{end}\n",
            common_date(self.at),
            self.time.as_millis()
        )
    }

    fn json(&self) -> String {
        let peer = self.peer.map_or_else(|| "null".to_owned(), |peer| format!("\"{}\"", peer.ip()));
        let request: String = self.request.chars().flat_map(escaped).collect();
        let Record { status, bytes, is_complete, .. } = self;
        format!(
            "{{\"peer\":{peer},\"time\":\"{}\",\"request\":\"{request}\",\"status\":{status},\"bytes\":{bytes},\
             \"ms\":{},\"complete\":{is_complete}}}\n",
            httpdate::fmt_http_date(self.at),
            self.time.as_millis()
        )
    }
}

/// As in `10/Oct/2000:13:55:36 +0000`.
fn common_date(at: SystemTime) -> String {
    let date = httpdate::fmt_http_date(at);
    let mut words = date.split(' ').skip(1);
    let mut word = || words.next().unwrap_or_default();
    format!("{}/{}/{}:{} +0000", word(), word(), word(), word())
}

/// A character within quotes: a client does not write lines of its own.
fn escaped(character: char) -> impl Iterator<Item = char> {
    let text = match character {
        '"' | '\\' => format!("\\{character}"),
        ' '..='~' => character.to_string(),
        _ => {
            let mut units = [0; 2];
            character.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
        }
    };
    text.chars().collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(request: &str) -> Record {
        Record {
            peer: Some("192.0.2.1:5000".parse().unwrap()),
            at: SystemTime::UNIX_EPOCH,
            request: request.to_owned(),
            status: 200,
            bytes: 12,
            time: Duration::from_millis(34),
            is_complete: true,
        }
    }

    #[test]
    fn a_request_is_one_line() {
        assert_eq!(
            record("GET /a HTTP/1.1").common(),
            "192.0.2.1 - - [01/Jan/1970:00:00:00 +0000] \"GET /a HTTP/1.1\" 200 12 34\n"
        );
        let hostile = Record { peer: None, is_complete: false, ..record("GET /\"\n\\\u{1F600}") };
        assert_eq!(
            hostile.common(),
            "- - - [01/Jan/1970:00:00:00 +0000] \"GET /\\\"\\u000a\\\\\\ud83d\\ude00\" 200 12 34 broken\n"
        );
        assert_eq!(
            hostile.json(),
            "{\"peer\":null,\"time\":\"Thu, 01 Jan 1970 00:00:00 GMT\",\"request\":\"GET /\\\"\\u000a\\\\\\ud83d\\ude00\",\
             \"status\":200,\"bytes\":12,\"ms\":34,\"complete\":false}\n"
        );
    }
}
