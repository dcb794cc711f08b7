//! Answers of servers, and their meaning to the backend.

use forerun_backend::{Backend, ErrorKind, conformance};

use super::common::Manners;
use super::{SIZE, connect_error, site, tree};

/// Checks the outcome of fetching a good object after the server's manners changed.
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

#[tokio::test]
async fn a_server_without_ranges_serves_beginnings_only() {
    let no_range: fn(&mut Manners) = |manners| manners.ignores_range = true;
    check_fetch(no_range, 0..SIZE, Ok(())).await;
    check_fetch(no_range, 0..10, Err(ErrorKind::NoRange)).await;
    check_fetch(no_range, 1..10, Err(ErrorKind::NoRange)).await;
    check_fetch(|manners| (manners.ignores_range, manners.chunked) = (true, true), 0..SIZE, Ok(())).await;
    let (server, ..) = site().await;
    server.behave(no_range);
    let error = connect_error(&server.url("dir/a%20b%25.bin")).await;
    assert_eq!(error.kind, ErrorKind::NoRange, "{error}");
    assert!(error.message.contains("ignores Range"), "{error}");
}

#[tokio::test]
async fn a_part_must_match_its_content_range() {
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
async fn each_status_has_its_error() {
    for (status, kind) in [
        (401, ErrorKind::Denied),
        (403, ErrorKind::Denied),
        (404, ErrorKind::NotFound),
        (410, ErrorKind::NotFound),
        (412, ErrorKind::Changed),
        (416, ErrorKind::Changed),
        (429, ErrorKind::Busy),
        (500, ErrorKind::Transient),
        (503, ErrorKind::Busy),
        (418, ErrorKind::Permanent),
    ] {
        check_fetch(|manners| manners.always = Some(status), 0..10, Err(kind)).await;
    }
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
