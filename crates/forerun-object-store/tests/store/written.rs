//! Writes through the store.

use std::sync::Arc;
use std::time::Duration;

use forerun::Options;
use forerun_object_store::ForerunStore;
use futures::StreamExt;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt};

use super::content;
use super::scripted::Scripted;

/// A store whose descriptions are believed for ever.
fn store(is_coarse: bool) -> ForerunStore {
    let inner = Scripted { is_coarse, ..Scripted::default() };
    let options = Options::default().with_metadata_ttl(Duration::from_secs(3600));
    ForerunStore::new(Arc::new(inner), options).unwrap()
}

async fn read(store: &ForerunStore, location: &Path) -> Vec<u8> {
    store.get(location).await.unwrap().bytes().await.unwrap().into()
}

#[tokio::test]
async fn a_write_is_read_at_once_whatever_the_store_tells_of_versions() {
    for is_coarse in [false, true] {
        let store = store(is_coarse);
        let (a, b, c) = (Path::from("a"), Path::from("b"), Path::from("c"));
        for seed in 1..4 {
            store.put(&a, content(seed, 5000).into()).await.unwrap();
            assert_eq!(read(&store, &a).await, content(seed, 5000), "put, {is_coarse}");
            store.copy(&a, &b).await.unwrap();
            assert_eq!(read(&store, &b).await, content(seed, 5000), "copy, {is_coarse}");
            store.rename(&b, &c).await.unwrap();
            assert_eq!(read(&store, &c).await, content(seed, 5000), "rename, {is_coarse}");
            let error = store.get(&b).await.unwrap_err();
            assert!(matches!(error, Error::NotFound { .. }), "renamed: {error:?}");
            let mut upload = store.put_multipart(&c).await.unwrap();
            upload.put_part(content(seed + 10, 5000).into()).await.unwrap();
            upload.complete().await.unwrap();
            assert_eq!(read(&store, &c).await, content(seed + 10, 5000), "upload, {is_coarse}");
        }
    }
}

#[tokio::test]
async fn what_is_deleted_is_gone_at_once() {
    let store = store(false);
    let locations = ["a", "b", "c"].map(Path::from);
    for location in &locations {
        store.put(location, content(1, 10).into()).await.unwrap();
        read(&store, location).await;
    }
    let doomed = futures::stream::iter(locations.clone().map(Ok)).boxed();
    assert_eq!(store.delete_stream(doomed).count().await, 3);
    for location in &locations {
        let error = store.get(location).await.unwrap_err();
        assert!(matches!(error, Error::NotFound { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn lists_are_those_of_the_store_inside() {
    let store = store(false);
    for location in ["a/b", "a/c", "d"] {
        store.put(&Path::from(location), content(1, 10).into()).await.unwrap();
    }
    let listed: Vec<_> = store.list(None).map(|meta| meta.unwrap().location.to_string()).collect().await;
    assert_eq!(listed, ["a/b", "a/c", "d"]);
    let after = store.list_with_offset(None, &Path::from("a/b"));
    assert_eq!(after.count().await, 2);
    let level = store.list_with_delimiter(None).await.unwrap();
    assert_eq!((level.common_prefixes, level.objects.len()), (vec![Path::from("a")], 1));
}
