//! Every kind of get, with the same result.

use std::mem::discriminant;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, PutOptions, Result,
};

use super::{content, http, over};

const SIZES: [usize; 4] = [0, 1, 100_000, (3 << 20) + 17];

async fn objects() -> Arc<InMemory> {
    let objects = Arc::new(InMemory::new());
    for size in SIZES {
        let attributes = Attributes::from_iter([(Attribute::ContentType, "text/plain")]);
        let options = PutOptions { attributes, ..PutOptions::default() };
        objects.put_opts(&location(size), content(1, size).into(), options).await.unwrap();
    }
    objects
}

fn location(size: usize) -> Path {
    Path::from(format!("objects/of {size} bytes"))
}

/// Gets of an object of `size` bytes with this ETag.
fn gets(size: u64, etag: &str) -> Vec<GetOptions> {
    let bounded = |range: Range<u64>| GetRange::Bounded(range);
    let ranges = [
        bounded(0..1),
        bounded(0..size),
        bounded(size / 3..size / 2),
        bounded(size.saturating_sub(1)..size),
        bounded(size.saturating_sub(1)..size + 10),
        bounded(size..size + 1),
        bounded(5..5),
        GetRange::Offset(0),
        GetRange::Offset(size / 2),
        GetRange::Offset(size),
        GetRange::Suffix(1),
        GetRange::Suffix(size + 1),
        GetRange::Suffix(size / 3 + 1),
    ];
    let mut gets = vec![GetOptions::new()];
    gets.extend(ranges.map(|range| GetOptions::new().with_range(Some(range))));
    let hour = Duration::from_secs(3600);
    let (past, future) = (SystemTime::now() - hour, SystemTime::now() + hour);
    for options in [
        GetOptions::new().with_if_match(Some(etag)),
        GetOptions::new().with_if_match(Some("\"other\"")),
        GetOptions::new().with_if_match(Some("*")),
        GetOptions::new().with_if_none_match(Some(etag)),
        GetOptions::new().with_if_none_match(Some("\"other\"")),
        GetOptions::new().with_if_modified_since(Some(past)),
        GetOptions::new().with_if_unmodified_since(Some(future)),
        GetOptions::new().with_if_match(Some(etag)).with_if_none_match(Some(etag)),
    ] {
        let ranged = options.clone().with_range(Some(0..size / 2 + 1));
        gets.extend([options.clone().with_head(true), options, ranged]);
    }
    gets
}

/// Checks all gets that `is_sensible`.
async fn check_gets(inner: Arc<dyn ObjectStore>, is_sensible: fn(u64, &GetOptions) -> bool) {
    let store = over(Arc::clone(&inner));
    for size in SIZES {
        let location = location(size);
        let etag = inner.head(&location).await.unwrap().e_tag.unwrap();
        let gets = gets(size as u64, &etag).into_iter();
        for options in gets.filter(|options| is_sensible(size as u64, options)) {
            let expected = store_answer(&*inner, &location, &options).await;
            let got = store_answer(&store, &location, &options).await;
            match (got, expected) {
                (Ok(got), Ok(expected)) => {
                    assert_eq!(got.0, expected.0, "{size} {options:?}");
                    assert!(got.1 == expected.1, "{size} {options:?}: other bytes");
                }
                (Err(got), Err(expected)) => {
                    let (got_kind, expected_kind) = (discriminant(&got), discriminant(&expected));
                    assert_eq!(got_kind, expected_kind, "{size} {options:?}: {got} / {expected}");
                }
                (got, expected) => panic!("{size} {options:?}: {got:?} instead of {expected:?}"),
            }
        }
    }
}

/// The description in the answer to a get, and its bytes. A head has none, though some stores send them.
async fn store_answer(
    store: &dyn ObjectStore,
    location: &Path,
    options: &GetOptions,
) -> Result<((ObjectMeta, Attributes, Range<u64>), Bytes)> {
    let got = store.get_opts(location, options.clone()).await?;
    let description = (got.meta.clone(), got.attributes.clone(), got.range.clone());
    let bytes = if options.head { Bytes::new() } else { got.bytes().await? };
    Ok((description, bytes))
}

#[tokio::test]
async fn gets_of_a_store_in_memory_are_the_same() {
    check_gets(objects().await, |_, _| true).await;
}

#[tokio::test]
async fn gets_over_http_are_the_same() {
    // A server refuses the last bytes of an empty object, which a store in memory answers with none.
    let is_sensible =
        |size, options: &GetOptions| size > 0 || !matches!(options.range, Some(GetRange::Suffix(_)));
    check_gets(http::served(objects().await).await, is_sensible).await;
}

#[tokio::test]
async fn ranges_are_the_same_in_any_order() {
    let inner = objects().await;
    let store = over(Arc::clone(&inner) as _);
    let location = location(SIZES[3]);
    let size = SIZES[3] as u64;
    for ranges in [
        vec![],
        vec![0..size],
        vec![5..10, 0..3, 5..10, size - 1..size],
        vec![size - 5..size + 5, 1 << 20..2 << 20, 0..1],
        vec![0..1, size..size + 1],
        vec![3..3],
    ] {
        match (store.get_ranges(&location, &ranges).await, inner.get_ranges(&location, &ranges).await) {
            (Ok(got), Ok(expected)) => assert!(got == expected, "{ranges:?}"),
            (got, expected) => assert_eq!(got.is_err(), expected.is_err(), "{ranges:?}: {got:?}"),
        }
    }
}
