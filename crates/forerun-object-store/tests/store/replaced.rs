//! Objects that somebody else replaces.

use std::sync::Arc;
use std::time::Duration;

use forerun::Options;
use forerun_object_store::ForerunStore;
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{Error, GetOptions, ObjectStore, ObjectStoreExt};

use super::content;
use super::scripted::Scripted;

const SIZE: usize = 40 << 20;

async fn believing(ttl: Duration) -> (Arc<Scripted>, ForerunStore, Path) {
    let inner = Arc::new(Scripted::default());
    let options = Options::default().with_memory_bytes(4 << 20).with_metadata_ttl(ttl);
    let store = ForerunStore::new(Arc::clone(&inner) as _, options).unwrap();
    let location = Path::from("a");
    inner.objects.put(&location, content(1, SIZE).into()).await.unwrap();
    (inner, store, location)
}

const LONG: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn a_get_begins_again_if_its_object_was_replaced() {
    let (inner, store, location) = believing(LONG).await;
    assert_eq!(store.get_range(&location, 0..10).await.unwrap(), content(1, 10));
    inner.objects.put(&location, content(2, SIZE).into()).await.unwrap();
    // Far from the bytes in memory, so the store has to be asked.
    let end = SIZE as u64;
    assert_eq!(store.get_range(&location, end - 10..end).await.unwrap(), content(2, SIZE).slice(SIZE - 10..));
    assert_eq!(store.get_range(&location, 0..10).await.unwrap(), content(2, 10));
}

#[tokio::test]
async fn a_longer_object_is_read_past_its_old_end() {
    let (inner, store, location) = believing(LONG).await;
    inner.objects.put(&location, content(1, 10).into()).await.unwrap();
    assert_eq!(store.get(&location).await.unwrap().bytes().await.unwrap(), content(1, 10));
    inner.objects.put(&location, content(2, 20).into()).await.unwrap();
    assert_eq!(store.get_range(&location, 15..20).await.unwrap(), content(2, 20).slice(15..));
}

#[tokio::test]
async fn a_removed_object_is_not_found() {
    let (inner, store, location) = believing(LONG).await;
    store.get_range(&location, 0..10).await.unwrap();
    inner.objects.delete(&location).await.unwrap();
    let error = store.get_range(&location, SIZE as u64 - 10..SIZE as u64).await.unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error:?}");
}

#[tokio::test]
async fn a_stream_never_mixes_versions() {
    let (inner, store, location) = believing(LONG).await;
    let mut body = store.get(&location).await.unwrap().into_stream();
    let mut read = Vec::from(body.try_next().await.unwrap().unwrap());
    inner.objects.put(&location, content(2, SIZE).into()).await.unwrap();
    let error = loop {
        match body.try_next().await {
            Ok(Some(piece)) => read.extend_from_slice(&piece),
            Ok(None) => panic!("the stream ended after a change"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Precondition { .. }), "{error:?}");
    assert!(read == content(1, SIZE)[..read.len()]);
}

#[tokio::test]
async fn a_description_is_believed_for_the_ttl_and_no_longer() {
    for (ttl, heads) in [(LONG, 1), (Duration::ZERO, 3)] {
        let (inner, store, location) = believing(ttl).await;
        for _ in 0..3 {
            store.get_range(&location, 0..10).await.unwrap();
        }
        assert_eq!(inner.heads(), heads, "{ttl:?}");
        // The bytes stay in memory either way.
        assert_eq!(store.forerun().counters().miss_bytes, 10, "{ttl:?}");
    }
}

#[tokio::test]
async fn a_condition_is_checked_by_the_store() {
    let (inner, store, location) = believing(LONG).await;
    let etag = store.head(&location).await.unwrap().e_tag;
    let get = GetOptions::new().with_range(Some(0..10)).with_if_match(etag);
    let got = store.get_opts(&location, get.clone()).await.unwrap().bytes().await.unwrap();
    assert_eq!(got, content(1, 10));
    inner.objects.put(&location, content(2, SIZE).into()).await.unwrap();
    let error = store.get_opts(&location, get).await.unwrap_err();
    assert!(matches!(error, Error::Precondition { .. }), "{error:?}");
}

#[tokio::test]
async fn many_gets_of_a_new_object_ask_for_one_description() {
    let (inner, store, location) = believing(LONG).await;
    let gets = (0..20).map(async |at| store.get_range(&location, 100 + at..1000).await.unwrap());
    futures::future::join_all(gets).await;
    assert_eq!(inner.heads(), 1);
}
