//! Lists, as the documentation of S3 has them.

use super::s3::{objects, strings, texts};
use super::support::Served;

pub(crate) const BOTH: [&str; 2] = ["/bucket?list-type=2", "/bucket?list-type=1"];

/// The keys, and the common prefixes.
pub(crate) fn listed(served: &Served, query: &str) -> (Vec<String>, Vec<String>) {
    let reply = served.ask(&format!("GET {query}"));
    assert_eq!(reply.status, 200, "{query}: {}", reply.text());
    let prefixes = texts(&reply, "CommonPrefixes");
    let bare = |prefix: String| prefix.replace("<Prefix>", "").replace("</Prefix>", "");
    (texts(&reply, "Key"), prefixes.into_iter().map(bare).collect())
}

#[test]
fn prefix_and_delimiter_choose_keys() {
    let served = Served::new(&objects(&[
        "asdf",
        "boo/bar",
        "boo/baz/xyzzy",
        "cquux/thud",
        "cquux/bla",
        "b%r",
        "b_z/x",
    ]));
    for version in BOTH {
        for (query, keys, prefixes) in [
            (
                "",
                &["asdf", "b%r", "b_z/x", "boo/bar", "boo/baz/xyzzy", "cquux/bla", "cquux/thud"][..],
                &[][..],
            ),
            (
                "&prefix=",
                &["asdf", "b%r", "b_z/x", "boo/bar", "boo/baz/xyzzy", "cquux/bla", "cquux/thud"],
                &[],
            ),
            (
                "&delimiter=",
                &["asdf", "b%r", "b_z/x", "boo/bar", "boo/baz/xyzzy", "cquux/bla", "cquux/thud"],
                &[],
            ),
            ("&delimiter=/", &["asdf", "b%r"], &["b_z/", "boo/", "cquux/"]),
            ("&delimiter=/&prefix=boo/", &["boo/bar"], &["boo/baz/"]),
            ("&delimiter=/&prefix=bo", &[], &["boo/"]),
            ("&delimiter=/&prefix=boo", &[], &["boo/"]),
            ("&delimiter=/&prefix=asdf", &["asdf"], &[]),
            ("&delimiter=/&prefix=asdf/", &[], &[]),
            ("&delimiter=/&prefix=/", &[], &[]),
            ("&delimiter=a", &["b%r", "b_z/x", "cquux/thud"], &["a", "boo/ba", "cquux/bla"]),
            (
                "&delimiter=%25",
                &["asdf", "b_z/x", "boo/bar", "boo/baz/xyzzy", "cquux/bla", "cquux/thud"],
                &["b%"],
            ),
            (
                "&delimiter=_",
                &["asdf", "b%r", "boo/bar", "boo/baz/xyzzy", "cquux/bla", "cquux/thud"],
                &["b_"],
            ),
            ("&delimiter=none&prefix=c", &["cquux/bla", "cquux/thud"], &[]),
            ("&delimiter=u&prefix=cq", &[], &["cqu"]),
            ("&prefix=none", &[], &[]),
            ("&prefix=b%25", &["b%r"], &[]),
            ("&prefix=%0A", &[], &[]),
        ] {
            let found = listed(&served, &format!("{version}{query}"));
            assert_eq!(found, (strings(keys), strings(prefixes)), "{version}{query}");
        }
    }
}

#[test]
fn a_list_begins_behind_a_key_that_need_not_be_there() {
    let served = Served::new(&objects(&["bar", "baz", "d/1", "d/2", "foo", "quxx"]));
    for (version, after) in [(BOTH[0], "start-after"), (BOTH[1], "marker")] {
        for (query, keys, prefixes) in [
            ("=", &["bar", "baz", "d/1", "d/2", "foo", "quxx"][..], &[][..]),
            ("=baz", &["d/1", "d/2", "foo", "quxx"], &[]),
            ("=blah", &["d/1", "d/2", "foo", "quxx"], &[]),
            ("=zzz", &[], &[]),
            ("=%0A", &["bar", "baz", "d/1", "d/2", "foo", "quxx"], &[]),
            ("=d/1&delimiter=/", &["foo", "quxx"], &["d/"]),
            // All of the directory has been seen.
            ("=d/2&delimiter=/", &["foo", "quxx"], &[]),
            ("=d/&delimiter=/", &["foo", "quxx"], &[]),
            ("=d&delimiter=/", &["foo", "quxx"], &["d/"]),
        ] {
            let found = listed(&served, &format!("{version}&{after}{query}"));
            assert_eq!(found, (strings(keys), strings(prefixes)), "{version}&{after}{query}");
        }
    }
    let both = served.ask("GET /bucket?list-type=2&start-after=baz&max-keys=1");
    let token = texts(&both, "NextContinuationToken").concat();
    let query = format!("/bucket?list-type=2&start-after=baz&continuation-token={token}");
    assert_eq!(listed(&served, &query).0, ["d/2", "foo", "quxx"], "the token counts");
}

#[test]
fn a_list_has_no_more_keys_than_asked_for_and_tells_whether_there_are_more() {
    let served = Served::new(&objects(&["bar", "baz", "foo", "quxx"]));
    for version in BOTH {
        for (query, count, is_truncated, told) in [
            ("", 4, "false", "1000"),
            ("&max-keys=1", 1, "true", "1"),
            ("&max-keys=4", 4, "false", "4"),
            ("&max-keys=0", 0, "false", "0"),
            ("&max-keys=1000000", 4, "false", "1000"),
        ] {
            let reply = served.ask(&format!("GET {version}{query}"));
            assert_eq!(texts(&reply, "Key").len(), count, "{version}{query}");
            assert_eq!(texts(&reply, "IsTruncated"), [is_truncated], "{version}{query}");
            assert_eq!(texts(&reply, "MaxKeys"), [told], "{version}{query}");
            assert_eq!(texts(&reply, "Name"), ["bucket"], "{version}{query}");
        }
        for query in ["&max-keys=blah", "&max-keys=-1", "&max-keys=99999999999999999999"] {
            let reply = served.ask(&format!("GET {version}{query}"));
            assert_eq!(
                (reply.status, texts(&reply, "Code").concat()),
                (400, "InvalidArgument".to_owned()),
                "{query}"
            );
        }
    }
    // The other version has other names for the end of a page.
    let first = served.ask("GET /bucket?max-keys=2");
    assert!(texts(&first, "NextMarker").is_empty() && texts(&first, "KeyCount").is_empty());
    let empty = served.ask("GET /bucket?delimiter=");
    assert!(!empty.text().contains("<Delimiter>"), "{}", empty.text());
}

#[test]
fn a_bucket_may_be_empty() {
    let served = Served::new(&[]);
    for version in BOTH {
        for query in ["", "&delimiter=/", "&prefix=a/"] {
            let reply = served.ask(&format!("GET {version}{query}"));
            let found = (reply.status, texts(&reply, "Key").len(), texts(&reply, "IsTruncated").concat());
            assert_eq!(found, (200, 0, "false".to_owned()), "{version}{query}");
        }
    }
}

#[test]
fn odd_keys_are_listed_encoded_and_read() {
    const KEYS: [&str; 9] =
        ["a b", "a+b", "a%20b", "a&b=c", "é😀", ".hidden", "a\"<>'", "a;b:c@d,e$f", "line\nfeed"];
    let served = Served::new(&KEYS.map(|key| (key, key.as_bytes().to_vec())));
    let mut sorted = KEYS;
    sorted.sort_unstable();
    for version in BOTH {
        let reply = served.ask(&format!("GET {version}&encoding-type=url"));
        assert_eq!(texts(&reply, "EncodingType"), ["url"]);
        let encoded = texts(&reply, "Key");
        let decoded: Vec<_> = encoded
            .iter()
            .map(|key| percent_encoding::percent_decode_str(key).decode_utf8().unwrap())
            .collect();
        assert_eq!(decoded, sorted);
        for (key, encoded) in sorted.iter().zip(&encoded) {
            assert!(encoded.is_ascii() && !encoded.contains(['+', ' ', '\n', '&']), "{encoded}");
            assert_eq!(served.ask(&format!("GET /bucket/{encoded}")).text(), *key);
            assert_eq!(served.ask(&format!("HEAD /bucket/{encoded}")).status, 200, "{key}");
            let query = format!("{version}&encoding-type=url&prefix={encoded}");
            assert!(listed(&served, &query).0.contains(encoded), "{query}");
        }
    }
    // A plus sign is itself in a path, and a blank in a query.
    assert_eq!(served.ask("GET /bucket/a+b").text(), "a+b");
    assert_eq!(listed(&served, "/bucket?list-type=2&prefix=a+").0, ["a b"]);
    let reply =
        served.ask("GET /bucket?list-type=2&encoding-type=url&prefix=a%2B&delimiter=%2B&start-after=a%20");
    assert_eq!([texts(&reply, "Delimiter"), texts(&reply, "StartAfter")].concat(), ["%2B", "a%20"]);
    assert_eq!(texts(&reply, "Prefix")[0], "a%2B");
}
