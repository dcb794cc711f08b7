//! Errors, extensions, old versions, and programs that keep what they were lent.

use std::sync::Arc;

use forerun::{Options, Part};
use forerun_object_store::ForerunStore;
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{Error, Extensions, GetOptions, ObjectStore, ObjectStoreExt};

use super::scripted::Scripted;
use super::{content, over};

async fn with_object(size: usize) -> (Arc<Scripted>, ForerunStore, Path) {
    let inner = Arc::new(Scripted::default());
    let location = Path::from("dir/a");
    inner.objects.put(&location, content(1, size).into()).await.unwrap();
    (Arc::clone(&inner), over(inner), location)
}

/// An error of the inner store, and whether another error is of its kind.
type Case = (fn() -> Error, fn(&Error) -> bool);

#[tokio::test]
async fn errors_of_fetches_keep_their_kind_and_later_gets_try_again() {
    let cases: [Case; 4] = [
        (denied, |error| matches!(error, Error::PermissionDenied { .. })),
        (
            || Error::Unauthenticated { path: "dir/a".into(), source: "no key".into() },
            |error| matches!(error, Error::Unauthenticated { .. }),
        ),
        (
            || Error::Generic { store: "S3", source: "it burns".into() },
            |error| matches!(error, Error::Generic { store: "S3", .. }),
        ),
        (
            || Error::NotSupported { source: "no ranges".into() },
            |error| matches!(error, Error::NotSupported { .. }),
        ),
    ];
    for (make, is_kept) in cases {
        let (inner, store, location) = with_object(100_000).await;
        inner.fail(move |options| (!options.head).then(make));
        let error = store.get(&location).await.unwrap_err();
        assert!(is_kept(&error), "{error:?}");
        let error = store.get_ranges(&location, &[0..10]).await.unwrap_err();
        assert!(is_kept(&error), "{error:?}");
        inner.fail(|_| None);
        assert_eq!(store.get(&location).await.unwrap().bytes().await.unwrap(), content(1, 100_000));
    }
}

fn denied() -> Error {
    Error::PermissionDenied { path: "dir/a".into(), source: "not yours".into() }
}

#[tokio::test]
async fn an_error_of_a_head_is_that_of_the_store() {
    let (inner, store, location) = with_object(10).await;
    inner.fail(|_| Some(denied()));
    let error = store.get(&location).await.unwrap_err();
    assert_eq!(error.to_string(), denied().to_string());
    let error = store.get(&Path::from("absent")).await.unwrap_err();
    assert!(matches!(error, Error::PermissionDenied { .. }), "{error:?}");
}

#[tokio::test]
async fn a_body_that_breaks_is_an_error_with_its_cause() {
    let (inner, store, location) = with_object(100_000).await;
    *inner.breaks.lock().unwrap() = Some(|| Error::Generic { store: "S3", source: "the wire is cut".into() });
    let error = store.get(&location).await.unwrap_err();
    assert!(error.to_string().contains("the wire is cut"), "{error}");
}

#[tokio::test]
async fn gets_with_extensions_or_an_old_version_go_to_the_store_inside() {
    let (inner, store, location) = with_object(100).await;
    let mut extensions = Extensions::new();
    extensions.insert("a mark");
    inner.fail(|options| (options.extensions.get::<&str>() != Some(&"a mark")).then(denied));
    let marked = GetOptions::new().with_extensions(extensions);
    assert_eq!(store.get_opts(&location, marked).await.unwrap().bytes().await.unwrap().len(), 100);
    inner.fail(|options| (options.version.as_deref() != Some("7")).then(denied));
    let old = GetOptions::new().with_version(Some("7"));
    assert_eq!(store.get_opts(&location, old).await.unwrap().bytes().await.unwrap().len(), 100);
    assert_eq!((inner.heads(), inner.gets()), (0, 2));
}

#[tokio::test]
async fn a_program_that_keeps_every_chunk_reads_to_the_end() {
    let inner = Arc::new(Scripted::default());
    let location = Path::from("large");
    let whole = content(3, 24 << 20);
    inner.objects.put(&location, whole.clone().into()).await.unwrap();
    let options = Options::default().with_memory_bytes(4 << 20);
    let store = ForerunStore::new(inner, options).unwrap();
    let kept: Vec<_> = store.get(&location).await.unwrap().into_stream().try_collect().await.unwrap();
    assert!(kept.concat() == whole);
    let ranges: Vec<_> = (0..24).map(|mib| mib << 20..(mib + 1) << 20).collect();
    let kept_too = store.get_ranges(&location, &ranges).await.unwrap();
    assert!(kept_too.concat() == whole);
    assert!(store.forerun().memory_bytes() <= 4 << 20);
}

#[tokio::test]
async fn the_engine_finds_objects_and_directories_by_their_locations() {
    let (inner, store, location) = with_object(10_000).await;
    let forerun = store.forerun();
    assert_eq!(forerun.prefetch(&[Part::whole("dir/a")]).await.unwrap(), 0);
    assert_eq!(forerun.list("dir").await.unwrap()[0].path, location.as_ref());
    assert_eq!(forerun.list("").await.unwrap()[0].path, "dir");
    let reader = forerun.open("dir/a").await.unwrap();
    let mut bytes = vec![0; 10_000];
    assert_eq!(reader.read_at(&mut bytes, 0).await.unwrap(), 10_000);
    assert_eq!(forerun.list("dir/a").await.unwrap_err().kind, forerun::ErrorKind::NotADirectory);
    assert_eq!(forerun.stat("no").await.unwrap_err().kind, forerun::ErrorKind::NotFound);
    // The get meets the bytes that the reader above brought.
    let gets = inner.gets();
    assert_eq!(store.get(&location).await.unwrap().bytes().await.unwrap(), bytes);
    assert_eq!(inner.gets(), gets);
}
