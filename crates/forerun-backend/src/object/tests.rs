use object_store::memory::InMemory;

use super::*;
use crate::{Kind, conformance};

async fn put(store: &InMemory, key: &str, bytes: Bytes) {
    store.put(&Path::parse(key).unwrap(), bytes.into()).await.unwrap();
}

async fn filled(prefix: &str) -> (Arc<InMemory>, ObjectBackend) {
    let store = Arc::new(InMemory::new());
    for (path, bytes) in conformance::sample_tree() {
        put(&store, &path::join(prefix, &path), bytes).await;
    }
    let backend = ObjectBackend::new(store.clone(), prefix, "memory://test").unwrap();
    (store, backend)
}

#[tokio::test]
async fn a_store_conforms() {
    conformance::check(Arc::new(filled("").await.1), &conformance::sample_tree()).await;
}

#[tokio::test]
async fn a_prefix_conforms_and_hides_the_rest() {
    let (store, backend) = filled("data/100% of it").await;
    put(&store, "data/other", "other".into()).await;
    put(&store, "data/100% of it too/x", "x".into()).await;
    conformance::check(Arc::new(backend), &conformance::sample_tree()).await;
}

#[tokio::test]
async fn a_replaced_object_is_changed() {
    let (store, backend) = filled("").await;
    let entry = backend.stat("readme.txt").await.unwrap();
    put(&store, "readme.txt", "hello, writer\n".into()).await;
    assert_eq!(conformance::fetch(&backend, &entry, 0..5).await.unwrap_err().kind, ErrorKind::Changed);
    assert_ne!(backend.stat("readme.txt").await.unwrap().version, entry.version);
}

#[tokio::test]
async fn an_object_hides_the_prefix_of_the_same_name() {
    let (store, backend) = filled("").await;
    put(&store, "one/below", "x".into()).await;
    let listed = backend.list("").await.unwrap();
    let ones: Vec<_> = listed.iter().filter(|entry| entry.path == "one").collect();
    assert_eq!((ones.len(), ones[0].kind), (1, Kind::File));
    assert_eq!(backend.stat("one").await.unwrap().kind, Kind::File);
}

#[tokio::test]
async fn an_empty_bucket_is_there_and_an_empty_prefix_is_not() {
    let store = Arc::new(InMemory::new());
    let bucket = ObjectBackend::new(store.clone(), "", "memory://test").unwrap();
    conformance::check(Arc::new(bucket), &[]).await;
    let prefix = ObjectBackend::new(store.clone(), "a/b", "memory://test").unwrap();
    assert_eq!(prefix.stat("").await.unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(ObjectBackend::new(store, "a//b", "memory://test").unwrap_err().kind, ErrorKind::Invalid);
}

#[test]
fn a_size_that_no_file_can_have_is_refused() {
    let mut meta = ObjectMeta {
        location: Path::from("a"),
        last_modified: std::time::SystemTime::UNIX_EPOCH.into(),
        size: i64::MAX as u64,
        e_tag: None,
        version: None,
    };
    assert_eq!(file("a", &meta).unwrap().size, meta.size);
    meta.size += 1;
    let error = file("a", &meta).unwrap_err();
    assert!(error.kind == ErrorKind::Permanent && error.message.contains("9223372036854775808"), "{error}");
}
