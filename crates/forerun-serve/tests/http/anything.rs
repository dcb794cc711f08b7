//! The promises of the server for any bytes of a client. Nothing panics, and no request makes the server fail. No
//! path leads out of a bucket, and without a key nobody reads.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use forerun::{Forerun, Options};
use forerun_serve::http::{Credentials, Server};
use forerun_serve::{Buckets, Listener};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use super::client::{Connection, Reply};

/// Bytes that are in the bucket, and others that are outside.
const WITHIN: &str = "these are in the bucket";
const OUTSIDE: &str = "nobody may read these";
/// The name of the threads of a server.
const SERVER: &str = "site";
/// Longer than any answer takes.
const TIME_MAX: Duration = Duration::from_secs(20);

/// A server of a directory.
struct Site {
    socket: PathBuf,
    _folder: TempDir,
    _runtime: Runtime,
}

static OPEN: LazyLock<Site> = LazyLock::new(|| Site::start(Credentials::default()));
static CLOSED: LazyLock<Site> = LazyLock::new(|| {
    let credentials = "s3 AKIAEXAMPLE hidden\nbasic ann password-of-ann\nbearer token-of-somebody\n";
    Site::start(Credentials::parse(credentials).unwrap())
});

impl Site {
    fn start(credentials: Credentials) -> Site {
        let folder = tempfile::tempdir().unwrap();
        let bucket = folder.path().join("bucket");
        fs::create_dir_all(bucket.join("d")).unwrap();
        fs::write(folder.path().join("secret"), OUTSIDE).unwrap();
        ["a", "d/b c", "é"].iter().for_each(|name| fs::write(bucket.join(name), WITHIN).unwrap());
        symlink("../secret", bucket.join("link")).unwrap();
        let runtime = Builder::new_multi_thread().thread_name(SERVER).enable_all().build().unwrap();
        let socket = folder.path().join("http");
        let (listener, forerun) = runtime.block_on(async {
            let options = Options::default().with_memory_bytes(16 << 20);
            let forerun = Forerun::connect(bucket.to_str().unwrap(), options).await.unwrap();
            (Listener::unix(&socket).await.unwrap(), forerun)
        });
        let mut buckets = Buckets::default();
        buckets.add("bucket", forerun).unwrap();
        let server = Server::new(buckets, credentials).unwrap();
        runtime.spawn(async move { server.serve(vec![listener], std::future::pending()).await });
        Site { socket, _folder: folder, _runtime: runtime }
    }

    /// The answer to `bytes`, which are the head of a request up to an empty line. None if the server hangs up. One that
    /// is silent for [`TIME_MAX`] makes the client panic.
    fn ask(&self, bytes: &[u8]) -> Option<Reply> {
        let bytes = bytes.trim_ascii_start();
        // Without a request there is no answer, and HTTP/2 has other ones.
        if bytes.is_empty() || bytes.starts_with(b"PRI") {
            return None;
        }
        let stream = UnixStream::connect(&self.socket).unwrap();
        stream.set_read_timeout(Some(TIME_MAX)).unwrap();
        let mut client = Connection::over(Box::new(stream));
        client.try_send(&[bytes, b"\r\n\r\n"].concat());
        client.try_reply(!bytes.starts_with(b"HEAD"))
    }
}

/// Sends `bytes` as a request.
pub(crate) fn requests(bytes: &[u8]) {
    let Some(reply) = OPEN.ask(bytes) else { return };
    let is_well = reply.status < 500 || reply.status == 501;
    assert!(is_well, "{} to {:?}: {}", reply.status, String::from_utf8_lossy(bytes), said(&reply));
    assert!(!said(&reply).contains(OUTSIDE), "{:?}", String::from_utf8_lossy(bytes));
}

/// Sends `bytes` as a request of somebody who has no credentials.
pub(crate) fn requests_without_a_key(bytes: &[u8]) {
    let Some(reply) = CLOSED.ask(bytes) else { return };
    let is_refused = (400..500).contains(&reply.status) || reply.status == 501;
    assert!(is_refused, "{} to {:?}: {}", reply.status, String::from_utf8_lossy(bytes), said(&reply));
    assert!(!said(&reply).contains(WITHIN), "{:?}", String::from_utf8_lossy(bytes));
}

fn said(reply: &Reply) -> String {
    String::from_utf8_lossy(&reply.body).into_owned()
}

#[cfg(test)]
mod tests {
    use std::{panic, process, thread};

    use super::*;

    const REQUESTS: [&str; 6] = [
        "GET /-/bucket/d/b%20c HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1,3-\r\nIf-Range: \"x\"",
        "GET /-/bucket/../secret HTTP/1.1\r\nHost: a",
        "HEAD /bucket/a?partNumber=1 HTTP/1.1\r\nHost: a\r\nIf-Match: *",
        "GET /bucket?list-type=2&prefix=d/&delimiter=%2F&max-keys=1&continuation-token=64 HTTP/1.1\r\nHost: a",
        "GET /bucket/a?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAEXAMPLE%2F20260101%2Fus-east-1%2Fs3%2F\
         aws4_request&X-Amz-Date=20260101T000000Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature=00 \
         HTTP/1.1\r\nHost: a",
        "GET /bucket/a HTTP/1.1\r\nHost: a\r\nx-amz-date: 20260101T000000Z\r\nx-amz-content-sha256: UNSIGNED-PAYLOAD\r\n\
         Authorization: AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/20260101/us-east-1/s3/aws4_request, \
         SignedHeaders=host;x-amz-date, Signature=00",
    ];

    /// Lets a panic of a server, which costs only its connection, end the tests.
    fn abort_on_panics_of_servers() {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panicked| {
            report(panicked);
            if thread::current().name() == Some(SERVER) {
                process::abort();
            }
        }));
    }

    #[test]
    fn any_bytes_keep_the_promises() {
        abort_on_panics_of_servers();
        let read = OPEN.ask(b"GET /bucket/a HTTP/1.1\r\nHost: a").unwrap();
        assert_eq!((read.status, said(&read)), (200, WITHIN.to_owned()));
        for request in REQUESTS {
            for at in 0..request.len() {
                for byte in [b'%', b'/', b' ', 0x80] {
                    let mut changed = request.as_bytes().to_vec();
                    changed[at] = byte;
                    requests(&changed);
                    requests_without_a_key(&changed);
                }
            }
        }
    }
}
