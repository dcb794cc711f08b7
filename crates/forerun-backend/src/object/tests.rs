use object_store::list::{PaginatedListOptions, PaginatedListResult};
use object_store::memory::InMemory;

use super::*;
use crate::{Kind, conformance};

/// A store in memory that lists three keys at a time.
struct Pages(Arc<InMemory>);

#[async_trait]
impl PaginatedListStore for Pages {
    async fn list_paginated(
        &self,
        prefix: Option<&str>,
        options: PaginatedListOptions,
    ) -> object_store::Result<PaginatedListResult> {
        let directory = prefix.map(|prefix| Path::parse(prefix.strip_suffix('/').unwrap()).unwrap());
        let mut result = self.0.list_with_delimiter(directory.as_ref()).await?;
        let start: usize = options.page_token.map_or(0, |token| token.parse().unwrap());
        let (object_count, count) =
            (result.objects.len(), result.objects.len() + result.common_prefixes.len());
        let end = (start + 3).min(count);
        let part = |first: usize, count: usize| {
            start.clamp(first, first + count) - first..end.clamp(first, first + count) - first
        };
        result.common_prefixes = result.common_prefixes[part(object_count, count - object_count)].to_vec();
        result.objects = result.objects[part(0, object_count)].to_vec();
        Ok(PaginatedListResult { result, page_token: (end < count).then(|| end.to_string()) })
    }
}

/// A store that refuses lists.
struct Closed;

#[async_trait]
impl PaginatedListStore for Closed {
    async fn list_paginated(
        &self,
        prefix: Option<&str>,
        _: PaginatedListOptions,
    ) -> object_store::Result<PaginatedListResult> {
        let path = prefix.unwrap_or_default().to_owned();
        Err(object_store::Error::PermissionDenied { path, source: "closed".into() })
    }
}

fn backend(store: &Arc<InMemory>, prefix: &str) -> Result<ObjectBackend> {
    ObjectBackend::new(store.clone(), Arc::new(Pages(store.clone())), prefix, "memory://test")
}

async fn put(store: &InMemory, key: &str, bytes: Bytes) {
    store.put(&Path::parse(key).unwrap(), bytes.into()).await.unwrap();
}

async fn filled(prefix: &str) -> (Arc<InMemory>, ObjectBackend) {
    let store = Arc::new(InMemory::new());
    for (path, bytes) in conformance::sample_tree() {
        put(&store, &path::join(prefix, &path), bytes).await;
    }
    let backend = backend(&store, prefix).unwrap();
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
async fn an_empty_bucket_is_there_and_an_empty_prefix_is_not() {
    let store = Arc::new(InMemory::new());
    let bucket = backend(&store, "").unwrap();
    conformance::check(Arc::new(bucket), &[]).await;
    let prefix = backend(&store, "a/b").unwrap();
    assert_eq!(prefix.stat("").await.unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(backend(&store, "a//b").unwrap_err().kind, ErrorKind::Invalid);
}

#[tokio::test]
async fn a_directory_hides_the_object_of_its_name_which_has_a_url_of_its_own() {
    let store = Arc::new(InMemory::new());
    put(&store, "data/a", "file".into()).await;
    put(&store, "data/both", "object".into()).await;
    put(&store, "data/both/x", "below".into()).await;
    put(&store, "data/z/x", "below".into()).await;
    let parent = backend(&store, "data").unwrap();
    let listed = parent.list("").await.unwrap();
    let kinds: Vec<_> = listed.iter().map(|entry| (entry.path.as_str(), entry.kind)).collect();
    assert_eq!(kinds, [("a", Kind::File), ("both", Kind::Directory), ("z", Kind::Directory)]);
    // A lookup agrees with the list, even if its parent was never listed.
    for entry in &listed {
        assert_eq!(backend(&store, "data").unwrap().stat(&entry.path).await.unwrap().kind, entry.kind);
    }
    assert_eq!(parent.list("both").await.unwrap()[0].path, "both/x");
    let object = backend(&store, "data").unwrap().only_objects().stat("both").await.unwrap();
    assert_eq!((object.kind, object.size), (Kind::File, 6));
}

#[tokio::test]
async fn an_object_whose_neighbours_may_not_be_listed_is_found() {
    let store = Arc::new(InMemory::new());
    put(&store, "a", "file".into()).await;
    let backend = ObjectBackend::new(store, Arc::new(Closed), "", "memory://test").unwrap();
    assert_eq!(backend.stat("a").await.unwrap().size, 4);
    assert_eq!(backend.stat("b").await.unwrap_err().kind, ErrorKind::Denied);
}
