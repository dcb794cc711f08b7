//! Servers whose answers never begin, or have heads and frames without end.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use forerun_backend::{
    Backend, ConnectOptions, Environment, Error, ErrorKind, RetryOptions, conformance, connect,
};
use futures::FutureExt;
use futures::future::{BoxFuture, join_all};

/// How a server answers a request.
enum Answer {
    Whole(String),
    /// Sends this and nothing more.
    Silent(&'static str),
    /// Sends this, then a byte of a header each half second.
    Trickle(&'static str),
    /// Sends the first text, then the second again and again, with a pause after each.
    Flood(String, &'static str, Duration),
}

/// A record of the requests and answers of a server.
#[derive(Default)]
struct Log {
    /// The first line of each request.
    requests: Vec<String>,
    /// The most bytes of a flood that a client read.
    flood_max: usize,
}

/// A server that passes the first line of each request to `answer`.
fn serve(answer: impl Fn(&str) -> Answer + Clone + Send + 'static) -> (String, Arc<Mutex<Log>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let log = Arc::<Mutex<Log>>::default();
    let seen = log.clone();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let (connection, answer, log) = (connection.unwrap(), answer.clone(), seen.clone());
            // A client that hangs up ends its connection with an error; nothing else does.
            thread::spawn(move || _ = serve_connection(connection, answer, &log));
        }
    });
    (url, log)
}

fn serve_connection(
    mut connection: TcpStream,
    answer: impl Fn(&str) -> Answer,
    log: &Mutex<Log>,
) -> std::io::Result<()> {
    let mut lines = BufReader::new(connection.try_clone()?).lines();
    while let Some(request) = lines.next() {
        let request = request?;
        lines.by_ref().find(|line| line.as_ref().map_or(true, String::is_empty));
        log.lock().unwrap().requests.push(request.clone());
        match answer(&request) {
            Answer::Whole(text) => connection.write_all(text.as_bytes())?,
            Answer::Silent(text) => {
                connection.write_all(text.as_bytes())?;
                // Reads until the client hangs up.
                lines.by_ref().find(Result::is_err);
            }
            Answer::Trickle(text) => {
                connection.write_all(text.as_bytes())?;
                for byte in b"X-Header: value\r\n".iter().cycle() {
                    connection.write_all(&[*byte])?;
                    // The pause is the misbehaviour: the head hardly arrives.
                    thread::sleep(Duration::from_millis(500));
                }
            }
            Answer::Flood(first, again, pause) => {
                connection.write_all(first.as_bytes())?;
                let again = again.repeat((16 << 10) / again.len());
                let mut sent = 0;
                loop {
                    connection.write_all(again.as_bytes())?;
                    sent += again.len();
                    let mut log = log.lock().unwrap();
                    log.flood_max = log.flood_max.max(sent);
                    drop(log);
                    // The pause bounds the bytes that this server writes until the client hangs up.
                    thread::sleep(pause);
                }
            }
        }
    }
    Ok(())
}

const OBJECT: &str =
    "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\nLast-Modified: Sat, 21 Nov 2026 10:00:00 GMT\r\n\r\n";
const PAGE: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n";
const KEYS: &str = "HTTP/1.1 200 OK\r\nContent-Length: 39\r\n\r\n<ListBucketResult></ListBucketResult>\r\n";

/// The answer that a request's path names. A path with `fetch` misbehaves once the object is found.
fn named(request: &str) -> Answer {
    let is_head = request.starts_with("HEAD");
    match request {
        found if is_head && found.contains("fetch") => Answer::Whole(OBJECT.to_owned()),
        keys if keys.contains("list-type=2") && (!keys.contains("prefix=") || keys.contains("fetch")) => {
            Answer::Whole(KEYS.to_owned())
        }
        silent if silent.contains("silent") => Answer::Silent(""),
        silent if silent.contains("half") => Answer::Silent("HTTP/1.1 200 OK\r\nContent-Le"),
        trickle if trickle.contains("trickle") => Answer::Trickle("HTTP/1.1 200 OK\r\n"),
        _ => Answer::Whole(PAGE.to_owned()),
    }
}

fn options(endpoint: Option<&str>, deadline: Duration) -> ConnectOptions {
    let keys = [("HOME", "/nowhere"), ("AWS_ACCESS_KEY_ID", "id"), ("AWS_SECRET_ACCESS_KEY", "key")];
    let backoff_first = Duration::from_millis(1);
    ConnectOptions::default()
        .with_endpoint(endpoint.map(str::to_owned))
        .with_environment(Environment::of(keys))
        .with_retry(RetryOptions::default().with_backoff_first(backoff_first).with_deadline(deadline))
}

/// The error of the request `what` for the object or directory `name`.
async fn ask(backend: &dyn Backend, what: &str) -> Error {
    if what.starts_with("list") {
        return backend.list(what).await.unwrap_err();
    }
    match backend.stat(what).await {
        Ok(found) => conformance::fetch(backend, &found, 10..20).await.unwrap_err(),
        Err(error) => error,
    }
}

#[tokio::test]
async fn each_kind_of_request_that_is_not_answered_is_tried_again_and_fails_in_time() {
    let (url, log) = serve(named);
    // Two tries of 10 s.
    let deadline = Duration::from_secs(11);
    let mut asked: Vec<(String, BoxFuture<'_, Error>)> = Vec::new();
    for manner in ["silent", "half", "trickle"] {
        for what in ["stat", "list", "fetch"] {
            let [web, key] = ["web", "key"].map(|kind| format!("{what}-{manner}-{kind}"));
            let (at, path) = (format!("{url}/"), web.clone());
            let ask_web = async move {
                let web = connect(&at, &options(None, deadline)).await.unwrap();
                ask(&*web.backend, &path).await
            };
            asked.push((web, ask_web.boxed()));
            let (endpoint, path) = (url.clone(), key.clone());
            let ask_store = async move {
                let store = connect("s3://bucket", &options(Some(&endpoint), deadline)).await.unwrap();
                ask(&*store.backend, &path).await
            };
            asked.push((key, ask_store.boxed()));
        }
        let name = format!("credentials-{manner}");
        let uri = format!("{url}/{name}");
        let environment = [("HOME", "/nowhere"), ("AWS_CONTAINER_CREDENTIALS_FULL_URI", uri.as_str())];
        let environment = Environment::of(environment);
        let with = options(Some(&url), deadline).with_environment(environment);
        asked.push((name, async move { connect("s3://bucket", &with).await.unwrap_err() }.boxed()));
    }
    let start = Instant::now();
    let (names, asked): (Vec<_>, Vec<_>) = asked.into_iter().unzip();
    let errors = join_all(asked).await;
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    for (name, error) in names.iter().zip(errors) {
        assert_eq!(error.kind, ErrorKind::Transient, "{name}: {error}");
        assert!(error.message.contains("gave up after 2 tries"), "{name}: {error}");
        let requests = &log.lock().unwrap().requests;
        let method = if name.starts_with("stat") { "HEAD " } else { "GET " };
        let is_try = |line: &&String| line.starts_with(method) && line.contains(&**name);
        // For a fetch, the store was also asked whether the object is a directory.
        let found = usize::from(name.starts_with("fetch") && name.ends_with("key"));
        assert_eq!(requests.iter().filter(is_try).count() - found, 2, "{name}: {requests:?}");
    }
}

/// Heads and frames without end: the start, the part that repeats, and the error's words. The
/// client reads empty ones until its deadline.
const FLOODS: [(&str, &str, &str); 8] = [
    ("HTTP/1.1 200 ", "reason ", "head is too large"),
    ("HTTP/1.1 200 OK\r\nX: ", "value ", "head is too large"),
    ("HTTP/1.1 200 OK\r\n", "X-Header: value\r\n", "head is too large"),
    ("", "\r\n", "head is too large"),
    ("CHUNKED1;", "extension;", "chunk extensions over limit"),
    ("CHUNKED0\r\n", "X-Trailer: value\r\n", "chunk trailers"),
    ("CHUNKED", "0", LATE),
    ("", "HTTP/1.1 102 Processing\r\n\r\n", LATE),
];
const LATE: &str = "timed out";

/// The head before a body in chunks.
const CHUNKED: &str = "HTTP/1.1 206 Part\r\nTransfer-Encoding: chunked\r\nContent-Range: bytes 10-19/100000\r\n\
    Last-Modified: Sat, 21 Nov 2026 10:00:00 GMT\r\n\r\n";

/// The memory that this process uses now.
fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let (_, rest) = status.split_once("VmRSS:").unwrap();
    rest.split_whitespace().next().unwrap().parse::<usize>().unwrap() << 10
}

#[tokio::test]
async fn heads_and_frames_without_end_are_refused_within_their_bounds() {
    let before = resident_bytes();
    let attacks = FLOODS.map(|(first, again, said)| async move {
        // Without a pause such a flood would use a processor for 10 s.
        let pause = if said == LATE { Duration::from_millis(20) } else { Duration::ZERO };
        let (url, log) = serve(move |request| match request {
            found if found.starts_with("HEAD") => Answer::Whole(OBJECT.to_owned()),
            _ => Answer::Flood(first.replace("CHUNKED", CHUNKED), again, pause),
        });
        let web = connect(&format!("{url}/"), &options(None, Duration::ZERO)).await.unwrap();
        let error = ask(&*web.backend, "object").await;
        assert!(error.kind == ErrorKind::Transient && error.message.contains(said), "{first:?}: {error}");
        // The bytes that the client read, and those in the buffers of two sockets.
        let flood_max = log.lock().unwrap().flood_max;
        assert!(said == LATE || flood_max < 32 << 20, "{first:?}: {flood_max} bytes were taken");
    });
    join_all(attacks).await;
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 64 << 20, "{grown} bytes of memory");
}

#[tokio::test]
async fn a_version_that_would_take_much_memory_is_refused() {
    let (url, _) = serve(|request| {
        let long = "e".repeat(1 << 10);
        let entry = |key: &str, etag: &str| {
            format!(
                "<Contents><Key>{key}</Key><LastModified>2026-11-25T10:00:00.000Z</LastModified>\
                 <ETag>\"{etag}\"</ETag><Size>1</Size></Contents>"
            )
        };
        Answer::Whole(match request {
            keys if keys.contains("list-type=2") => {
                let [bad, good] = [entry("bad", &long), entry("good", "e")];
                let page = format!("<ListBucketResult>{bad}{good}</ListBucketResult>");
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{page}", page.len())
            }
            root if root.starts_with("HEAD / ") => PAGE.to_owned(),
            _ => format!("HTTP/1.1 200 OK\r\nETag: \"{long}\"\r\nContent-Length: 1\r\n\r\n"),
        })
    });
    let web = connect(&format!("{url}/"), &options(None, Duration::ZERO)).await.unwrap();
    let error = web.backend.stat("bad").await.unwrap_err();
    assert!(error.message.contains("in more than 1024 bytes"), "{error}");
    let store = connect("s3://bucket", &options(Some(&url), Duration::ZERO)).await.unwrap();
    let listed = store.backend.list("").await.unwrap();
    assert_eq!(listed.iter().map(|entry| &*entry.path).collect::<Vec<_>>(), ["good"]);
}
