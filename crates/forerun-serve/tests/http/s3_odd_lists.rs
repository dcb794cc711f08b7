//! Lists that lead out of a bucket, have odd delimiters, or are compared with the objects.

use super::s3::{objects, strings, texts};
use super::s3_lists::{BOTH, listed};
use super::signer::stamp;
use super::support::{Served, pattern};

#[test]
fn no_list_leads_out_of_a_bucket() {
    let served = Served::new(&objects(&["a", "b/c", "%2e%2e/d"]));
    for version in BOTH {
        for prefix in [
            "..",
            "../",
            "%2e%2e",
            "%2e%2e/",
            "..%2f",
            "../bucket/",
            "b/../",
            "./",
            "/",
            "//",
            "a%00",
            "b%00/",
            "b/%00",
        ] {
            for more in ["", "&delimiter=/", "&delimiter=.", "&encoding-type=url"] {
                let query = format!("{version}&prefix={prefix}{more}");
                assert_eq!(listed(&served, &query), (vec![], vec![]), "{query}");
            }
        }
        // Names are decoded once.
        let query = format!("{version}&prefix=%252e%252e/");
        assert_eq!(listed(&served, &query), (strings(&["%2e%2e/d"]), vec![]));
    }
    for (version, after) in [(BOTH[0], "start-after"), (BOTH[1], "marker")] {
        // All keys that come behind such a place, and nothing else.
        for (place, keys) in [
            ("../", &["a", "b/c"][..]),
            ("%2e%2e/", &["a", "b/c"]),
            ("a/../", &["b/c"]),
            ("a%00", &["b/c"]),
            ("/", &["a", "b/c"]),
            ("~/../", &[]),
        ] {
            let query = format!("{version}&{after}={place}");
            assert_eq!(listed(&served, &query), (strings(keys), vec![]), "{query}");
            let query = format!("{query}&prefix=../");
            assert_eq!(listed(&served, &query), (vec![], vec![]), "{query}");
        }
    }
}

#[test]
fn any_character_may_be_a_delimiter() {
    let served = Served::new(&objects(&["a b c", "a b d", "a.b", "a.c", "line\nfeed", "line\nend", "plain"]));
    for version in BOTH {
        for (query, keys, prefixes) in [
            ("&delimiter=%20", &["a.b", "a.c", "line%0Aend", "line%0Afeed", "plain"][..], &["a%20"][..]),
            ("&delimiter=+", &["a.b", "a.c", "line%0Aend", "line%0Afeed", "plain"], &["a%20"]),
            ("&delimiter=%20&prefix=a%20", &[], &["a%20b%20"]),
            ("&delimiter=.", &["a%20b%20c", "a%20b%20d", "line%0Aend", "line%0Afeed", "plain"], &["a."]),
            (
                "&delimiter=..",
                &["a%20b%20c", "a%20b%20d", "a.b", "a.c", "line%0Aend", "line%0Afeed", "plain"],
                &[],
            ),
            ("&delimiter=%0A", &["a%20b%20c", "a%20b%20d", "a.b", "a.c", "plain"], &["line%0A"]),
            ("&delimiter=%0A&prefix=line", &[], &["line%0A"]),
        ] {
            let query = format!("{version}&encoding-type=url{query}");
            assert_eq!(listed(&served, &query), (strings(keys), strings(prefixes)), "{query}");
        }
    }
}

#[test]
fn a_list_says_of_an_object_what_its_head_says() {
    let served = Served::new(&[
        ("d/dated", pattern(123, 1)),
        ("dated", pattern(1_234_567, 2)),
        ("empty-dated", vec![]),
    ]);
    for version in BOTH {
        let reply = served.ask(&format!("GET {version}"));
        let [keys, sizes, etags, dates] =
            ["Key", "Size", "ETag", "LastModified"].map(|name| texts(&reply, name));
        assert_eq!((keys.len(), sizes.len(), etags.len(), dates.len()), (3, 3, 3, 3));
        for (index, key) in keys.iter().enumerate() {
            let head = served.ask(&format!("HEAD /bucket/{key}"));
            assert_eq!(head.header("content-length"), Some(sizes[index].as_str()), "{key}");
            assert_eq!(head.header("etag"), Some(etags[index].replace("&quot;", "\"").as_str()), "{key}");
            let modified = httpdate::parse_http_date(head.header("last-modified").unwrap()).unwrap();
            let date = dates[index].replace(['-', ':'], "").replace(".000", "");
            assert_eq!(date, stamp(modified), "{key}");
        }
    }
}
