//! Lists of objects, in both versions.

use std::sync::Arc;

use forerun::Entry;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use s3s::dto::{
    CommonPrefix, ETag, EncodingType, ListObjectsInput, ListObjectsOutput, ListObjectsV2Input,
    ListObjectsV2Output, Object, ObjectStorageClass, Timestamp,
};
use s3s::{S3Result, s3_error};

use super::object_keys::{Found, Keys};
use super::refusal;
use crate::http::validators::Validators;
use crate::served::Bucket;

/// Keys of one page, as S3 has them at most.
const KEYS_MAX: i32 = 1000;
/// Characters that `encoding-type=url` leaves unchanged.
const ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/').remove(b'*');

/// The request of a client, in the terms of both versions.
struct Query<'a> {
    prefix: &'a str,
    delimiter: &'a str,
    /// The last key or common prefix that the client has.
    after: &'a str,
    count_max: usize,
}

/// A page of a list.
#[derive(Default)]
struct Page {
    files: Vec<Entry>,
    prefixes: Vec<String>,
    /// The last key or common prefix of the page, if there are more.
    next: Option<String>,
}

impl Page {
    async fn of(bucket: &Bucket, query: &Query<'_>) -> S3Result<Page> {
        let Query { prefix, delimiter, after, count_max } = *query;
        let mut page = Page::default();
        if count_max == 0 {
            return Ok(page);
        }
        let is_flat = delimiter == "/";
        let keys = Keys::new(bucket, prefix, after, is_flat).await;
        let mut keys = keys.map_err(|error| refusal::of(&error))?;
        let mut last = String::new();
        while let Some(found) = keys.next().await.map_err(|error| refusal::of(&error))? {
            let common = match &found {
                Found::Prefix(common) => Some(common.clone()),
                Found::Key(entry) => common_prefix(&entry.path, prefix, delimiter),
            };
            // Neighbours with a common prefix are one, and one that the client has does not come again.
            if common.as_deref().is_some_and(|common| common == last || common == after) {
                continue;
            }
            if page.files.len() + page.prefixes.len() == count_max {
                page.next = Some(last);
                return Ok(page);
            }
            match (common, found) {
                (Some(common), _) => {
                    last.clone_from(&common);
                    page.prefixes.push(common);
                }
                (None, Found::Key(entry)) => {
                    last.clone_from(&entry.path);
                    page.files.push(entry);
                }
                (None, Found::Prefix(_)) => {}
            }
        }
        Ok(page)
    }
}

/// The part of `key` that other keys share: up to the first `delimiter` behind `prefix`.
fn common_prefix(key: &str, prefix: &str, delimiter: &str) -> Option<String> {
    let rest = key.strip_prefix(prefix).filter(|_| !delimiter.is_empty())?;
    let end = prefix.len() + rest.find(delimiter)? + delimiter.len();
    Some(key[..end].to_owned())
}

pub(super) async fn version_2(
    bucket: &Arc<Bucket>,
    input: ListObjectsV2Input,
) -> S3Result<ListObjectsV2Output> {
    let encode = encoder(input.encoding_type.as_ref())?;
    let delimiter = input.delimiter.as_deref().filter(|delimiter| !delimiter.is_empty());
    let token = input.continuation_token.as_deref().map(parse_token).transpose()?;
    let query = Query {
        prefix: input.prefix.as_deref().unwrap_or_default(),
        delimiter: delimiter.unwrap_or_default(),
        after: token.as_deref().or(input.start_after.as_deref()).unwrap_or_default(),
        count_max: count_max(input.max_keys)?,
    };
    let page = Page::of(bucket, &query).await?;
    Ok(ListObjectsV2Output {
        key_count: Some((page.files.len() + page.prefixes.len()) as i32),
        max_keys: Some(input.max_keys.unwrap_or(KEYS_MAX).min(KEYS_MAX)),
        is_truncated: Some(page.next.is_some()),
        next_continuation_token: page.next.as_deref().map(token_of),
        contents: Some(page.files.iter().map(|entry| object(entry, encode)).collect()),
        common_prefixes: Some(page.prefixes.iter().map(|prefix| common(prefix, encode)).collect()),
        name: Some(input.bucket),
        prefix: Some(encode(input.prefix.as_deref().unwrap_or_default())),
        delimiter: delimiter.map(encode),
        start_after: input.start_after.as_deref().map(encode),
        continuation_token: input.continuation_token,
        encoding_type: input.encoding_type,
        ..ListObjectsV2Output::default()
    })
}

pub(super) async fn version_1(bucket: &Arc<Bucket>, input: ListObjectsInput) -> S3Result<ListObjectsOutput> {
    let encode = encoder(input.encoding_type.as_ref())?;
    let delimiter = input.delimiter.as_deref().filter(|delimiter| !delimiter.is_empty());
    let query = Query {
        prefix: input.prefix.as_deref().unwrap_or_default(),
        delimiter: delimiter.unwrap_or_default(),
        after: input.marker.as_deref().unwrap_or_default(),
        count_max: count_max(input.max_keys)?,
    };
    let page = Page::of(bucket, &query).await?;
    Ok(ListObjectsOutput {
        max_keys: Some(input.max_keys.unwrap_or(KEYS_MAX).min(KEYS_MAX)),
        is_truncated: Some(page.next.is_some()),
        // Without a delimiter the last key is the next marker, as S3 has it.
        next_marker: page.next.as_deref().filter(|_| delimiter.is_some()).map(encode),
        contents: Some(page.files.iter().map(|entry| object(entry, encode)).collect()),
        common_prefixes: Some(page.prefixes.iter().map(|prefix| common(prefix, encode)).collect()),
        name: Some(input.bucket),
        prefix: Some(encode(input.prefix.as_deref().unwrap_or_default())),
        delimiter: delimiter.map(encode),
        marker: Some(encode(input.marker.as_deref().unwrap_or_default())),
        encoding_type: input.encoding_type,
        ..ListObjectsOutput::default()
    })
}

fn count_max(asked: Option<i32>) -> S3Result<usize> {
    let count = asked.unwrap_or(KEYS_MAX).min(KEYS_MAX);
    usize::try_from(count).map_err(|_| s3_error!(InvalidArgument, "max-keys must not be negative."))
}

/// How names stand in the answer.
fn encoder(encoding: Option<&EncodingType>) -> S3Result<fn(&str) -> String> {
    match encoding.map(EncodingType::as_str) {
        None => Ok(str::to_owned),
        Some(EncodingType::URL) => Ok(|text| utf8_percent_encode(text, ENCODED).to_string()),
        Some(_) => Err(s3_error!(InvalidArgument, "The only encoding type is url.")),
    }
}

fn object(entry: &Entry, encode: fn(&str) -> String) -> Object {
    let validators = Validators::of(entry);
    Object {
        e_tag: ETag::parse_http_header(validators.etag.as_bytes()).ok(),
        key: Some(encode(&entry.path)),
        // Clients want a date.
        last_modified: Some(Timestamp::from(
            validators.modified.unwrap_or(std::time::SystemTime::UNIX_EPOCH),
        )),
        size: Some(entry.size as i64),
        storage_class: Some(ObjectStorageClass::from_static(ObjectStorageClass::STANDARD)),
        ..Object::default()
    }
}

fn common(prefix: &str, encode: fn(&str) -> String) -> CommonPrefix {
    CommonPrefix { prefix: Some(encode(prefix)) }
}

/// A token that names where a page ends, in characters that every client sends back as they are.
fn token_of(last: &str) -> String {
    last.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn parse_token(token: &str) -> S3Result<String> {
    let digits = token.as_bytes();
    let byte = |pair: &[u8]| {
        let is_hex = pair.len() == 2 && pair.iter().all(u8::is_ascii_hexdigit);
        u8::from_str_radix(std::str::from_utf8(pair).ok().filter(|_| is_hex)?, 16).ok()
    };
    let bytes = digits.chunks(2).map(byte).collect::<Option<Vec<u8>>>();
    bytes
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| s3_error!(InvalidArgument, "The continuation token is not one of this server."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_comes_back_as_it_was() {
        for text in ["", "a/b", "é😀\n"] {
            assert_eq!(parse_token(&token_of(text)).unwrap(), text);
        }
        for text in ["f", "zz", "ff", "+1"] {
            assert!(parse_token(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_common_prefix_ends_behind_the_first_delimiter() {
        let of = |key, prefix, delimiter| common_prefix(key, prefix, delimiter);
        assert_eq!(of("a/b/c", "", "/"), Some("a/".to_owned()));
        assert_eq!(of("a/b/c", "a/", "/"), Some("a/b/".to_owned()));
        assert_eq!(of("a/b/c", "a/b", "/"), Some("a/b/".to_owned()));
        assert_eq!(of("abc", "a", "bc"), Some("abc".to_owned()));
        assert_eq!(of("abc", "", "/"), None);
        assert_eq!(of("a/b", "", ""), None);
    }
}
