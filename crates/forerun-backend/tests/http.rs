//! The HTTP backend against a web server that misbehaves on demand.

mod common;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use common::{Manners, Server};
use forerun_backend::{
    Backend, ConnectOptions, Connected, Entry, Error, ErrorKind, HttpBackend, Kind, RetryOptions,
    conformance, connect,
};

const SIZE: u64 = 200_000;

fn tree() -> Vec<(String, Bytes)> {
    let bytes: Bytes = (0..SIZE).map(|at| (at % 251) as u8).collect();
    vec![("dir/a b%.bin".to_owned(), bytes), ("dir/empty".to_owned(), Bytes::new())]
}

/// Tries again, but does not wait long for it.
fn impatient() -> ConnectOptions {
    let retry = RetryOptions { backoff_first: Duration::from_millis(1), ..RetryOptions::default() };
    ConnectOptions { retry, ..ConnectOptions::default() }
}

/// A server, its directory without layers, and the entry of its file.
async fn site() -> (Server, HttpBackend, Entry) {
    let server = Server::start(&tree()).await;
    let backend = HttpBackend::directory(server.url("dir").parse().unwrap()).unwrap();
    let entry = backend.stat("a b%.bin").await.unwrap();
    (server, backend, entry)
}

/// Checks what a fetch of a good object ends in once the server has changed its
/// manners.
async fn check_fetch(
    change: impl FnOnce(&mut Manners),
    extent: std::ops::Range<u64>,
    expected: Result<(), ErrorKind>,
) {
    let (server, backend, entry) = site().await;
    server.behave(change);
    let fetched = conformance::fetch(&backend, &entry, extent.clone()).await;
    match (&fetched, expected) {
        (Ok(bytes), Ok(())) => assert!(*bytes == tree()[0].1[extent.start as usize..extent.end as usize]),
        (Err(error), Err(kind)) => assert_eq!(error.kind, kind, "{error}"),
        _ => panic!("{:?}, not {expected:?}", fetched.map(|bytes| bytes.len())),
    }
}

async fn connect_error(url: &str) -> Error {
    connect(url, &impatient()).await.unwrap_err()
}

#[tokio::test]
async fn a_listed_tree_conforms() {
    let tree = conformance::sample_tree();
    let server = Server::start(&tree).await;
    let Connected { backend, object } = connect(&server.url(""), &impatient()).await.unwrap();
    assert_eq!(object, None);
    conformance::check(backend, &tree).await;
}

#[tokio::test]
async fn a_tree_conforms_whatever_the_validators() {
    let manners: [fn(&mut Manners); 4] = [
        |manners| manners.weak_etags = true,
        |manners| manners.no_etags = true,
        |manners| (manners.no_etags, manners.no_dates) = (true, true),
        |manners| (manners.refuses_head, manners.ignores_conditions) = (true, true),
    ];
    for change in manners {
        let tree = conformance::sample_tree();
        let server = Server::start(&tree).await;
        server.behave(change);
        let backend = HttpBackend::directory(server.url("").parse().unwrap()).unwrap();
        conformance::check(Arc::new(backend), &tree).await;
    }
}

#[tokio::test]
async fn one_object_conforms_and_keeps_its_query() {
    let (server, ..) = site().await;
    let url = server.url("dir/a%20b%25.bin?signature=secret");
    let Connected { backend, object } = connect(&url, &impatient()).await.unwrap();
    assert_eq!(object.as_deref(), Some("a b%.bin"));
    assert!(!backend.url().contains("secret"), "{}", backend.url());
    conformance::check(backend, &[("a b%.bin".to_owned(), tree()[0].1.clone())]).await;
}

#[tokio::test]
async fn a_directory_is_recognised_without_its_slash() {
    let (server, ..) = site().await;
    let connected = connect(&server.url("dir"), &impatient()).await.unwrap();
    assert_eq!(connected.object, None);
    assert_eq!(connected.backend.list("").await.unwrap().len(), 2);
}

#[tokio::test]
async fn redirects_are_followed() {
    let (server, backend, _) = site().await;
    let target = server.url("dir/a%20b%25.bin");
    server.behave(|manners| {
        manners.redirects.insert("/dir/relative".to_owned(), "a%20b%25.bin".to_owned());
        manners.redirects.insert("/dir/absolute".to_owned(), target);
        manners.redirects.insert("/dir/chain".to_owned(), "/dir/relative".to_owned());
        manners.redirects.insert("/dir/loop".to_owned(), "/dir/loop".to_owned());
    });
    for path in ["relative", "absolute", "chain"] {
        let entry = backend.stat(path).await.unwrap();
        assert_eq!((entry.kind, entry.size), (Kind::File, SIZE), "{path}");
        let bytes = conformance::fetch(&backend, &entry, 100..SIZE - 1).await.unwrap();
        assert!(bytes == tree()[0].1[100..SIZE as usize - 1], "{path}");
    }
    assert_eq!(backend.stat("loop").await.unwrap_err().kind, ErrorKind::Permanent);
}

#[tokio::test]
async fn a_server_without_ranges_serves_beginnings_only() {
    let no_range: fn(&mut Manners) = |manners| manners.ignores_range = true;
    check_fetch(no_range, 0..SIZE, Ok(())).await;
    check_fetch(no_range, 0..10, Ok(())).await;
    check_fetch(no_range, 1..10, Err(ErrorKind::NoRange)).await;
    check_fetch(|manners| (manners.ignores_range, manners.chunked) = (true, true), 0..SIZE, Ok(())).await;
    let (server, ..) = site().await;
    server.behave(no_range);
    let error = connect_error(&server.url("dir/a%20b%25.bin")).await;
    assert_eq!(error.kind, ErrorKind::NoRange, "{error}");
    assert!(error.message.contains("ignores Range"), "{error}");
}

#[tokio::test]
async fn what_the_server_says_of_a_part_must_hold() {
    check_fetch(|manners| manners.chunked = true, 5..SIZE, Ok(())).await;
    check_fetch(|manners| manners.range_shift = 1, 5..10, Err(ErrorKind::Permanent)).await;
    check_fetch(|manners| manners.range_total = Some(SIZE + 1), 5..10, Err(ErrorKind::Changed)).await;
    check_fetch(|manners| manners.range_total = Some(3), 5..10, Err(ErrorKind::Permanent)).await;
    check_fetch(|manners| manners.compresses = true, 5..10, Err(ErrorKind::Permanent)).await;
    check_fetch(|manners| manners.no_etags = true, 5..10, Err(ErrorKind::Changed)).await;
    check_fetch(
        |manners| (manners.no_etags, manners.ignores_conditions) = (true, true),
        5..10,
        Err(ErrorKind::Changed),
    )
    .await;
    check_fetch(|manners| manners.cuts = [1000].into(), 5..SIZE, Err(ErrorKind::Transient)).await;
    check_fetch(
        |manners| (manners.cuts, manners.chunked) = ([1000].into(), true),
        5..SIZE,
        Err(ErrorKind::Transient),
    )
    .await;
}

#[tokio::test]
async fn statuses_mean_what_they_mean() {
    for (status, kind) in [
        (401, ErrorKind::Denied),
        (403, ErrorKind::Denied),
        (404, ErrorKind::NotFound),
        (410, ErrorKind::NotFound),
        (412, ErrorKind::Changed),
        (416, ErrorKind::Changed),
        (429, ErrorKind::Transient),
        (500, ErrorKind::Transient),
        (503, ErrorKind::Transient),
        (418, ErrorKind::Permanent),
    ] {
        check_fetch(|manners| manners.always = Some(status), 0..10, Err(kind)).await;
    }
}

#[tokio::test]
async fn a_change_is_noticed_however_the_server_tells_versions() {
    let manners: [fn(&mut Manners); 5] = [
        |_| {},
        |manners| manners.ignores_conditions = true,
        |manners| manners.weak_etags = true,
        |manners| manners.no_etags = true,
        |manners| (manners.no_etags, manners.ignores_conditions) = (true, true),
    ];
    for (index, change) in manners.into_iter().enumerate() {
        let (server, backend, _) = site().await;
        server.behave(change);
        let entry = backend.stat("a b%.bin").await.unwrap();
        server.put("dir/a b%.bin", vec![0; SIZE as usize]);
        let error = conformance::fetch(&backend, &entry, 5..10).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Changed, "{index}: {error}");
        let entry = backend.stat("a b%.bin").await.unwrap();
        assert_eq!(conformance::fetch(&backend, &entry, 5..10).await.unwrap(), [0; 5]);
    }
}

#[tokio::test]
async fn trouble_that_passes_is_survived() {
    let (server, ..) = site().await;
    server.behave(|manners| manners.statuses = [503, 500].into());
    let Connected { backend, .. } = connect(&server.url("dir/"), &impatient()).await.unwrap();
    server.behave(|manners| manners.statuses = [502].into());
    let entry = backend.stat("a b%.bin").await.unwrap();
    server.requests();
    server
        .behave(|manners| (manners.statuses, manners.cuts) = ([503, 429].into(), [10_000, 0, 50_000].into()));
    let bytes = conformance::fetch(&*backend, &entry, 1..SIZE).await.unwrap();
    assert!(bytes == tree()[0].1[1..]);
    assert_eq!(server.requests().len(), 6);
}

#[tokio::test]
async fn a_long_listing_survives_requests_that_fail() {
    let tree: Vec<_> = (0..400).map(|i| (format!("dir/{i}"), Bytes::from(vec![0; i]))).collect();
    let server = Server::start(&tree).await;
    let stumbles = |times| (0..400).step_by(50).map(move |i| (format!("/dir/{i}"), times)).collect();
    server.behave(|manners| manners.stumbles = stumbles(2));
    let backend = HttpBackend::directory(server.url("dir").parse().unwrap()).unwrap();
    let entries = backend.list("").await.unwrap();
    assert_eq!(entries.len(), 400);
    assert!(entries.iter().all(|entry| entry.size.to_string() == entry.path));
    let requests = server.requests();
    assert_eq!(requests.len(), 1 + 400 + 8 * 2);
    assert_eq!(requests.iter().filter(|request| *request == "GET /dir/").count(), 1);
    server.behave(|manners| manners.stumbles = stumbles(4));
    let error = backend.list("").await.unwrap_err();
    assert!(error.is_transient() && error.message.contains("gave up after 4 tries"), "{error}");
}

#[tokio::test]
async fn a_size_that_no_file_can_have_is_refused() {
    let (server, backend, _) = site().await;
    let largest = i64::MAX as u64;
    server.behave(|manners| (manners.refuses_head, manners.range_total) = (true, Some(largest)));
    assert_eq!(backend.stat("a b%.bin").await.unwrap().size, largest);
    for size in [largest + 1, u64::MAX] {
        server.behave(|manners| manners.range_total = Some(size));
        let error = backend.stat("a b%.bin").await.unwrap_err();
        assert!(error.kind == ErrorKind::Permanent && error.message.contains(&size.to_string()), "{error}");
    }
}

#[tokio::test]
async fn an_object_that_changes_while_its_stream_is_resumed_is_changed() {
    let (server, ..) = site().await;
    let Connected { backend, .. } = connect(&server.url("dir/"), &impatient()).await.unwrap();
    let entry = backend.stat("a b%.bin").await.unwrap();
    server.behave(|manners| manners.cuts = [10_000].into());
    let mut stream = backend.fetch(&entry.path, &entry.version, 0..SIZE).await.unwrap();
    server.put("dir/a b%.bin", vec![0; SIZE as usize]);
    let end = loop {
        match futures::TryStreamExt::try_next(&mut stream).await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("two versions were mixed"),
            Err(error) => break error,
        }
    };
    assert_eq!(end.kind, ErrorKind::Changed, "{end}");
}

#[tokio::test]
async fn what_cannot_be_connected_says_why() {
    let (server, ..) = site().await;
    let missing = connect_error(&server.url("dir/nothing")).await;
    assert_eq!(missing.kind, ErrorKind::NotFound, "{missing}");
    assert!(missing.message.contains(&server.url("dir/nothing")), "{missing}");
    assert_eq!(connect_error(&server.url("nowhere/")).await.kind, ErrorKind::NotFound);
    server.behave(|manners| manners.always = Some(401));
    let denied = connect_error(&server.url("dir/")).await;
    assert!(denied.kind == ErrorKind::Denied && denied.message.contains("user:password@"), "{denied}");
    server.behave(|manners| manners.always = Some(503));
    let storm = connect_error(&server.url("dir/")).await;
    assert!(storm.kind == ErrorKind::Transient && storm.message.contains("gave up after 6 tries"), "{storm}");
    server.behave(|manners| (manners.always, manners.compresses) = (None, true));
    let compressed = connect_error(&server.url("dir/a%20b%25.bin")).await;
    assert!(compressed.message.contains("Content-Encoding gzip"), "{compressed}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    for scheme in ["http", "https"] {
        let url = format!("{scheme}://user:secret@{address}/dir/");
        let error = connect_error(&url).await;
        assert_eq!(error.kind, ErrorKind::Unreachable, "{error}");
        assert!(
            error.message.contains("refused") && error.message.contains("gave up after 6 tries"),
            "{error}"
        );
        assert!(!error.message.contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn object_store_options_are_refused() {
    let options = ConnectOptions { region: Some("eu".to_owned()), ..ConnectOptions::default() };
    let error = connect("http://localhost/", &options).await.unwrap_err();
    assert!(error.kind == ErrorKind::Invalid && error.message.contains("a region was given"), "{error}");
}
