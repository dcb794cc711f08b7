//! Servers that send too much, too little, or nonsense.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use forerun_backend::{
    Backend, ConnectOptions, Connected, Environment, ErrorKind, HttpBackend, Kind, RetryOptions, conformance,
    connect,
};
use futures::{StreamExt, stream};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, header};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Starts a server that passes each request to `answer`. Returns its address.
async fn serve(answer: impl Fn(&Request<Incoming>) -> Answer + Clone + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            let answer = answer.clone();
            let service = service_fn(move |request| {
                let answer = answer(&request);
                async move { Ok::<_, Infallible>(answer) }
            });
            let server = hyper::server::conn::http1::Builder::new();
            tokio::spawn(server.serve_connection(TokioIo::new(connection), service));
        }
    });
    format!("http://{address}")
}

fn text(kind: &str, text: impl Into<Bytes>) -> Answer {
    Response::builder().header(header::CONTENT_TYPE, kind).body(Full::new(text.into()).boxed()).unwrap()
}

/// A body that never ends.
fn endless() -> BoxBody<Bytes, Infallible> {
    let piece = Bytes::from(vec![b'x'; 64 << 10]);
    BodyExt::boxed(StreamBody::new(stream::repeat(piece).map(|piece| Ok(Frame::data(piece)))))
}

fn options(endpoint: &str) -> ConnectOptions {
    let variables = [
        ("AWS_EC2_METADATA_DISABLED", "true"),
        ("HOME", "/nowhere"),
        ("AWS_ACCESS_KEY_ID", "id"),
        ("AWS_SECRET_ACCESS_KEY", "key"),
        ("AWS_SESSION_TOKEN", "secret token"),
    ];
    ConnectOptions::default()
        .with_endpoint(Some(endpoint.to_owned()))
        .with_environment(Environment::of(variables))
        .with_retry(RetryOptions::default().with_backoff_first(Duration::from_millis(1)))
}

/// One page of a bucket's listing.
fn page(inside: &str) -> Answer {
    text("application/xml", format!("<ListBucketResult><Name>bucket</Name>{inside}</ListBucketResult>"))
}

fn listed(key: &str, size: &str) -> String {
    format!(
        "<Contents><Key>{key}</Key><LastModified>2026-11-25T10:00:00.000Z</LastModified>\
         <ETag>\"e\"</ETag><Size>{size}</Size></Contents>"
    )
}

async fn bucket(answer: impl Fn(&Request<Incoming>) -> Answer + Clone + Send + 'static) -> Arc<dyn Backend> {
    let endpoint = serve(answer).await;
    connect("s3://bucket", &options(&endpoint)).await.unwrap().backend
}

#[tokio::test]
async fn a_listing_that_never_ends_is_refused() {
    let html =
        serve(|_| Response::builder().header(header::CONTENT_TYPE, "text/html").body(endless()).unwrap());
    let web = HttpBackend::directory(html.await.parse().unwrap()).unwrap();
    let store = bucket(|request| match request.uri().query() {
        Some(query) if query.contains("list-type=2") && query.contains("prefix=big") => {
            Response::new(endless())
        }
        _ => page(&listed("big/x", "1")),
    })
    .await;
    for error in [web.list("").await.unwrap_err(), store.list("big").await.unwrap_err()] {
        assert_eq!(error.kind, ErrorKind::Permanent, "{error}");
        assert!(error.message.contains("is larger than 33554432 bytes"), "{error}");
    }
}

#[tokio::test]
async fn a_refusal_that_never_ends_is_cut() {
    let endpoint = serve(|_| Response::builder().status(403).body(endless()).unwrap()).await;
    let start = Instant::now();
    let error = connect("s3://bucket", &options(&endpoint)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Denied, "{error}");
    assert!(error.message.len() < 1000 && start.elapsed() < Duration::from_secs(20), "{error}");
}

#[tokio::test]
async fn pages_without_end_are_refused() {
    let count = Arc::new(AtomicUsize::new(0));
    let next = count.clone();
    let again =
        bucket(|_| page(&format!("{}<NextContinuationToken>t</NextContinuationToken>", listed("a", "1"))));
    let error = again.await.list("").await.unwrap_err();
    assert!(error.message.contains("the same page of its listing again and again"), "{error}");
    let ever_new = bucket(move |request| {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let is_directory = request.uri().query().is_some_and(|query| query.contains("prefix=many"));
        let token = if is_directory { number } else { 0 };
        page(&match token {
            0 => listed("many/x", "1"),
            token => format!("<NextContinuationToken>{token}</NextContinuationToken>"),
        })
    });
    let error = ever_new.await.list("many").await.unwrap_err();
    assert!(error.message.contains("more than 16384 pages"), "{error}");
}

#[tokio::test]
async fn a_bad_entry_does_not_hide_the_others() {
    let long = "n".repeat(256);
    let store = bucket(move |_| {
        let bad = ["-1", "1e3", ""].map(|size| listed("bad", size)).join("");
        page(&format!("{bad}{}{}{}", listed(&long, "1"), listed("<![CDATA[..]]>", "1"), listed("good", "1")))
    })
    .await;
    let names: Vec<_> = store.list("").await.unwrap().into_iter().map(|entry| entry.path).collect();
    assert_eq!(names, ["good"]);
}

#[tokio::test]
async fn a_prefix_of_keys_that_cannot_be_shown_is_an_empty_directory() {
    let store = bucket(|request| match request.uri().query() {
        Some(query) if query.contains("prefix=odd%2F") => page(&listed("odd//x", "1")),
        Some(query) if !query.contains("prefix=") => {
            page("<CommonPrefixes><Prefix>odd/</Prefix></CommonPrefixes>")
        }
        Some(_) => page(""),
        None => Response::builder().status(404).body(Full::default().boxed()).unwrap(),
    })
    .await;
    let [listed, found] = [store.list("").await.unwrap().remove(0), store.stat("odd").await.unwrap()];
    assert_eq!((&*listed.path, listed.kind, found.kind), ("odd", Kind::Directory, Kind::Directory));
    assert_eq!(store.list("odd").await.unwrap().len(), 0);
    assert_eq!(store.list("none").await.unwrap_err().kind, ErrorKind::NotFound);
}

#[tokio::test]
async fn a_store_that_sends_less_than_it_was_asked_for_is_asked_again() {
    const SIZE: usize = 100_000;
    let bytes: Bytes = (0..SIZE).map(|at| (at % 251) as u8).collect();
    let all = bytes.clone();
    let store = bucket(move |request| {
        if request.method() == Method::HEAD {
            let answer =
                Response::builder().header(header::CONTENT_LENGTH, SIZE).header(header::ETAG, "\"e\"");
            let dated = answer.header(header::LAST_MODIFIED, "Sat, 21 Nov 2026 10:00:00 GMT");
            return dated.body(Full::new(all.clone()).boxed()).unwrap();
        }
        let Some(range) = request.headers().get(header::RANGE) else {
            let is_root = !request.uri().query().is_some_and(|query| query.contains("prefix="));
            return page(&if is_root { listed("o", "100000") } else { String::new() });
        };
        let range = range.to_str().unwrap().strip_prefix("bytes=").unwrap().to_owned();
        let (first, last) = range.split_once('-').unwrap();
        let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
        let end = (last + 1).min(first + 30_000);
        Response::builder()
            .status(206)
            .header(header::CONTENT_RANGE, format!("Bytes {first}-{}/{SIZE}", end - 1))
            .header(header::ETAG, "\"e\"")
            .header(header::LAST_MODIFIED, "Sat, 21 Nov 2026 10:00:00 GMT")
            .body(Full::new(all.slice(first..end)).boxed())
            .unwrap()
    })
    .await;
    let entry = store.stat("o").await.unwrap();
    let read = conformance::fetch(&*store, &entry, 10..SIZE as u64).await.unwrap();
    assert!(read == bytes[10..]);
}

#[tokio::test]
async fn a_store_is_not_followed_elsewhere() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let elsewhere = serve(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        page("")
    })
    .await;
    let endpoint = serve(move |_| {
        let to = Response::builder().status(307).header(header::LOCATION, &elsewhere);
        to.body(Full::default().boxed()).unwrap()
    })
    .await;
    let error = connect("s3://bucket", &options(&endpoint)).await.unwrap_err();
    assert_eq!((error.kind, asked.load(Ordering::Relaxed)), (ErrorKind::Invalid, 0), "{error}");
}

#[tokio::test]
async fn a_password_that_is_refused_is_not_asked_for() {
    let refusing = serve(|_| Response::builder().status(401).body(Full::default().boxed()).unwrap()).await;
    let with = refusing.replace("http://", "http://user:secret@");
    for (url, advice) in
        [(refusing, "put the user and the password into ~/.netrc"), (with, "check the user and the password")]
    {
        let Err(error) = connect(&url, &ConnectOptions::default()).await.map(|Connected { .. }| ()) else {
            panic!("{url} was connected to");
        };
        assert!(error.message.contains(advice) && !error.message.contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn a_listing_at_an_endless_address_is_refused() {
    let server = serve(|request| match request.uri().path().len() {
        1 => {
            let long = format!("/{}/", "n".repeat(9000));
            let to = Response::builder().status(302).header(header::LOCATION, long);
            to.body(Full::default().boxed()).unwrap()
        }
        _ => text("text/html", "<a href=x>x</a>"),
    });
    let web = HttpBackend::directory(server.await.parse().unwrap()).unwrap();
    let error = web.list("").await.unwrap_err();
    assert!(error.message.contains("address is longer than 8192 bytes"), "{error}");
}
