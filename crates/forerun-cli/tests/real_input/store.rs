//! A bucket of an S3 server.

use std::fs;

use crate::support::{Mounted, Store};
use crate::tree;

#[test]
fn a_bucket_a_prefix_and_an_object_read_as_they_were_written() {
    let store = Store::start();
    tree::fill(&store.at("some/prefix"));
    fs::write(store.at("top"), "at the top").unwrap();

    let bucket = Mounted::start(store.mount("s3://bucket"));
    tree::check_same(&store.at(""), &bucket.at(""));
    bucket.end();

    let prefix = Mounted::start(store.mount("s3://bucket/some/prefix"));
    tree::check_same(&store.at("some/prefix"), &prefix.at(""));
    prefix.end();

    let slash = Mounted::start(store.mount("s3://bucket/some/prefix/odd/"));
    tree::check_same(&store.at("some/prefix/odd"), &slash.at(""));
    slash.end();

    let object = Mounted::start(store.mount("s3://bucket/some/prefix/large"));
    let names: Vec<_> =
        fs::read_dir(object.at("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["large"]);
    assert!(fs::read(object.at("large")).unwrap() == fs::read(store.at("some/prefix/large")).unwrap());
    object.end();
}
