//! Requests that fail, and objects that change meanwhile.

use std::time::{Duration, Instant};

use bytes::Bytes;
use forerun_backend::{Backend, ConnectOptions, Connected, ErrorKind, RetryOptions, conformance, connect};

use super::common::{Manners, Server};
use super::{SIZE, impatient, site, tree};

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
    let Connected { backend, .. } = connect(&server.url("dir/"), &impatient()).await.unwrap();
    server.requests();
    server.behave(|manners| manners.stumbles = stumbles(2));
    let entries = backend.list("").await.unwrap();
    assert_eq!(entries.len(), 400);
    assert!(entries.iter().all(|entry| entry.size.to_string() == entry.path));
    let requests = server.requests();
    assert_eq!(requests.len(), 1 + 400 + 8 * 2);
    assert_eq!(requests.iter().filter(|request| *request == "GET /dir/").count(), 1);
    server.behave(|manners| manners.stumbles = stumbles(6));
    assert_eq!(backend.list("").await.unwrap().len(), 400);
}

#[tokio::test]
async fn the_files_of_a_listing_are_tried_as_long_as_everything_else() {
    let tree: Vec<_> = (0..20).map(|i| (format!("dir/{i}"), Bytes::from(vec![0; i]))).collect();
    let server = Server::start(&tree).await;
    for (deadline, tries) in [(Duration::ZERO, 1..2), (Duration::from_secs(2), 5..100)] {
        let retry = RetryOptions::default().with_deadline(deadline);
        let options = ConnectOptions::default().with_retry(retry);
        let Connected { backend, .. } = connect(&server.url("dir/"), &options).await.unwrap();
        server.behave(|manners| manners.stumbles = [("/dir/7".to_owned(), usize::MAX)].into());
        server.requests();
        let start = Instant::now();
        let error = backend.list("").await.unwrap_err();
        assert!(error.is_transient() && error.message.contains("gave up after"), "{error}");
        assert_eq!(error.message.matches("gave up").count(), 1, "{error}");
        assert!(start.elapsed() >= deadline);
        let requests = server.requests();
        let count = requests.iter().filter(|request| *request == "HEAD /dir/7").count();
        assert!(tries.contains(&count), "{count}");
        assert_eq!(requests.iter().filter(|request| *request == "GET /dir/").count(), 1);
        server.behave(|manners| manners.stumbles.clear());
    }
}

#[tokio::test]
async fn a_listing_goes_on_when_the_server_is_back() {
    let tree: Vec<_> = (0..20).map(|i| (format!("dir/{i}"), Bytes::from(vec![0; i]))).collect();
    let server = Server::start(&tree).await;
    let Connected { backend, .. } = connect(&server.url("dir/"), &impatient()).await.unwrap();
    // The first answers to the page fail: the listing itself probes whether the server is back.
    server.behave(|manners| manners.statuses = [503; 6].into());
    let start = Instant::now();
    assert_eq!(backend.list("").await.unwrap().len(), 20);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_server_says_when_it_is_back() {
    let (server, ..) = site().await;
    let Connected { backend, .. } = connect(&server.url("dir/"), &impatient()).await.unwrap();
    server.behave(|manners| (manners.retry_after, manners.statuses) = (Some("1".to_owned()), [503].into()));
    let start = Instant::now();
    backend.stat("a b%.bin").await.unwrap();
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(backend.try_counts().busy, 1);
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
