//! Requests that fail, and objects that change meanwhile.

use bytes::Bytes;
use forerun_backend::{Backend, Connected, ErrorKind, HttpBackend, conformance, connect};

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
