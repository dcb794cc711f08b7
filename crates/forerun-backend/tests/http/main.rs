//! The HTTP backend against a web server that misbehaves on demand.

mod answers;
#[path = "../common/mod.rs"]
mod common;
mod connecting;
mod trouble;

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

/// Retries with short pauses.
fn impatient() -> ConnectOptions {
    let retry = RetryOptions::default().with_backoff_first(Duration::from_millis(1));
    ConnectOptions::default().with_retry(retry)
}

/// A server, its directory without layers, and the entry of its file.
async fn site() -> (Server, HttpBackend, Entry) {
    let server = Server::start(&tree()).await;
    let backend = HttpBackend::directory(server.url("dir").parse().unwrap()).unwrap();
    let entry = backend.stat("a b%.bin").await.unwrap();
    (server, backend, entry)
}

async fn connect_error(url: &str) -> Error {
    connect(url, &impatient()).await.unwrap_err()
}

#[tokio::test]
async fn a_listed_tree_conforms() {
    let tree = conformance::sample_tree();
    let server = Server::start(&tree).await;
    let Connected { backend, object, .. } = connect(&server.url(""), &impatient()).await.unwrap();
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
    let Connected { backend, object, .. } = connect(&url, &impatient()).await.unwrap();
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
async fn a_directory_is_recognised_where_its_page_is_sent_without_a_redirect() {
    let (server, ..) = site().await;
    server.behave(|manners| manners.bare_directories = true);
    let backend = HttpBackend::directory(server.url("").parse().unwrap()).unwrap();
    assert_eq!(backend.stat("dir").await.unwrap().kind, Kind::Directory);
    let entry = backend.stat("dir/a b%.bin").await.unwrap();
    assert_eq!((entry.kind, entry.size), (Kind::File, SIZE));
    // A file costs one request.
    let requests = server.requests();
    assert_eq!(requests[1..], ["HEAD /dir", "HEAD /dir/", "HEAD /dir/a%20b%25.bin"]);
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
