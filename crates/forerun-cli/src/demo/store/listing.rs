//! ListObjectsV2.

use std::collections::BTreeSet;
use std::fmt::Write;

use url::form_urlencoded;

use super::answer::escape;
use super::bucket::Bucket;
use super::object::{MODIFIED_ISO, etag};

/// The most keys and prefixes in one answer.
const KEYS_MAX: usize = 1000;

#[derive(Debug)]
struct Query {
    prefix: String,
    delimiter: String,
    /// Only keys after this one: a page's last key or prefix is the token for the next page.
    after: String,
    keys_max: usize,
    url_encoded: bool,
}

impl Query {
    fn parse(query: &str) -> Query {
        let mut parsed = Query {
            prefix: String::new(),
            delimiter: String::new(),
            after: String::new(),
            keys_max: KEYS_MAX,
            url_encoded: false,
        };
        let mut token = None;
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "prefix" => parsed.prefix = value.into_owned(),
                "delimiter" => parsed.delimiter = value.into_owned(),
                "start-after" => parsed.after = value.into_owned(),
                "continuation-token" => token = Some(value.into_owned()),
                "max-keys" => parsed.keys_max = value.parse().unwrap_or(KEYS_MAX).min(KEYS_MAX),
                "encoding-type" => parsed.url_encoded = value == "url",
                _ => {}
            }
        }
        parsed.after = token.unwrap_or(parsed.after);
        parsed
    }

    /// The common prefix that hides `key`, if any.
    fn common_prefix<'k>(&self, key: &'k str) -> Option<&'k str> {
        if self.delimiter.is_empty() {
            return None;
        }
        let start = self.prefix.len();
        let end = start + key[start..].find(&self.delimiter)? + self.delimiter.len();
        Some(&key[..end])
    }

    fn text(&self, text: &str) -> String {
        if self.url_encoded {
            form_urlencoded::byte_serialize(text.as_bytes()).collect()
        } else {
            escape(text)
        }
    }
}

/// The answer to `?list-type=2&…`, as XML.
pub(super) fn list(bucket: &Bucket, name: &str, query: &str) -> String {
    let query = Query::parse(query);
    let mut entries = String::new();
    let mut prefixes = BTreeSet::new();
    let mut count = 0;
    let mut last = None;
    let mut is_truncated = false;
    for (key, size) in bucket.sizes_after(&query.after).filter(|(key, _)| key.starts_with(&query.prefix)) {
        let common = query.common_prefix(key);
        if common.is_some_and(|common| prefixes.contains(common) || common == query.after) {
            continue;
        }
        if count == query.keys_max {
            is_truncated = true;
            break;
        }
        count += 1;
        last = Some(common.unwrap_or(key));
        match common {
            Some(common) => _ = prefixes.insert(common),
            None => {
                let _ = write!(
                    entries,
                    "<Contents><Key>{}</Key><LastModified>{MODIFIED_ISO}</LastModified><ETag>{}</ETag>\
                     <Size>{}</Size><StorageClass>STANDARD</StorageClass></Contents>",
                    query.text(key),
                    escape(&etag(key, size)),
                    size
                );
            }
        }
    }
    for prefix in prefixes {
        let _ = write!(entries, "<CommonPrefixes><Prefix>{}</Prefix></CommonPrefixes>", query.text(prefix));
    }
    if query.url_encoded {
        // Clients decode names only then.
        entries.push_str("<EncodingType>url</EncodingType>");
    }
    if let Some(last) = last.filter(|_| is_truncated) {
        let _ = write!(entries, "<NextContinuationToken>{}</NextContinuationToken>", escape(last));
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>{}</Name><Prefix>{}</Prefix>\
         <KeyCount>{count}</KeyCount><MaxKeys>{}</MaxKeys><IsTruncated>{is_truncated}</IsTruncated>{entries}\
         </ListBucketResult>",
        escape(name),
        query.text(&query.prefix),
        query.keys_max,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::data::Contents;

    /// Keys, common prefixes and the next token of one page.
    fn page(query: &str) -> (Vec<String>, Vec<String>, Option<String>) {
        let xml = list(&Bucket::Generated(Contents::new(64 << 20)), "demo", query);
        let between = |open: &str, close: &str| -> Vec<String> {
            xml.split(open).skip(1).map(|rest| rest.split(close).next().unwrap().to_owned()).collect()
        };
        let token = between("<NextContinuationToken>", "</").pop();
        assert_eq!(token.is_some(), xml.contains("<IsTruncated>true<"), "{xml}");
        (between("<Key>", "</"), between("<CommonPrefixes><Prefix>", "</"), token)
    }

    #[test]
    fn the_root_as_a_directory() {
        let (keys, prefixes, token) = page("list-type=2&delimiter=%2F&prefix=");
        assert_eq!(keys, ["one.bin", "random.bin", "shuffled.bin", "wide.bin"]);
        assert_eq!(prefixes, ["big/", "many/", "paced/", "tree/"]);
        assert_eq!(token, None);
    }

    #[test]
    fn everything_without_a_delimiter() {
        let (keys, prefixes, _) = page("list-type=2");
        assert_eq!(keys.len(), 1000);
        assert_eq!(keys[0], "big/0.bin");
        assert!(prefixes.is_empty());
    }

    #[test]
    fn pages_join_up_to_the_whole() {
        for (query, expected) in
            [("prefix=many/&delimiter=/", 250), ("delimiter=/", 8), ("start-after=tree/17/90.bin", 210)]
        {
            let (mut found, mut token) = (Vec::new(), None::<String>);
            loop {
                let more =
                    token.as_ref().map(|token| format!("&continuation-token={token}")).unwrap_or_default();
                let (keys, prefixes, next) = page(&format!("list-type=2&max-keys=3&{query}{more}"));
                assert!(keys.len() + prefixes.len() <= 3);
                found.extend(keys.into_iter().chain(prefixes));
                token = next;
                if token.is_none() {
                    break;
                }
            }
            assert_eq!(found.len(), expected, "{query}");
            found.sort();
            found.dedup();
            assert_eq!(found.len(), expected, "{query}");
        }
    }

    #[test]
    fn an_answer_tells_that_its_names_are_encoded() {
        let list = |query| list(&Bucket::Generated(Contents::new(64 << 20)), "demo", query);
        let encoded = list("list-type=2&prefix=big/&encoding-type=url");
        assert!(encoded.contains("<Key>big%2F0.bin</Key>"), "{encoded}");
        assert!(encoded.contains("<EncodingType>url</EncodingType>"), "{encoded}");
        assert!(!list("list-type=2&prefix=big/").contains("EncodingType"));
    }

    #[test]
    fn start_after_and_prefix() {
        let (keys, ..) = page("list-type=2&prefix=big/&start-after=big/5.bin");
        assert_eq!(keys, ["big/6.bin", "big/7.bin"]);
        assert_eq!(page("list-type=2&prefix=absent/").0.len(), 0);
    }
}
