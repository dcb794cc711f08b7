//! The file backend, through the public API.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use forerun_backend::{Backend, ConnectOptions, ErrorKind, FileBackend, conformance, connect};

fn write_tree(root: &Path, tree: &[(String, Bytes)]) {
    for (path, bytes) in tree {
        let file = root.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
    }
}

#[tokio::test]
async fn a_directory_conforms() {
    let directory = tempfile::tempdir().unwrap();
    let tree = conformance::sample_tree();
    write_tree(directory.path(), &tree);
    conformance::check(Arc::new(FileBackend::new(directory.path()).unwrap()), &tree).await;
}

#[tokio::test]
async fn a_directory_that_is_read_directly_conforms() {
    let directory = tempfile::tempdir().unwrap();
    let tree = conformance::sample_tree();
    write_tree(directory.path(), &tree);
    let backend = FileBackend::new(directory.path()).unwrap().with_direct(true);
    conformance::check(Arc::new(backend), &tree).await;
}

#[tokio::test]
async fn an_empty_directory_conforms() {
    let directory = tempfile::tempdir().unwrap();
    conformance::check(Arc::new(FileBackend::new(directory.path()).unwrap()), &[]).await;
}

#[tokio::test]
async fn urls_and_plain_paths_name_directories_and_files() {
    let directory = tempfile::tempdir().unwrap();
    let tree = [("a b%/one.iso".to_owned(), Bytes::from_static(b"iso"))];
    write_tree(directory.path(), &tree);
    std::os::unix::fs::symlink("a b%/one.iso", directory.path().join("latest")).unwrap();
    let options = ConnectOptions::default();
    let root = directory.path().to_str().unwrap();
    for url in [root.to_owned(), format!("{root}/"), format!("file://{root}")] {
        let connected = connect(&url, &options).await.unwrap();
        assert_eq!(connected.object, None);
        assert_eq!(connected.backend.list("").await.unwrap().len(), 2, "{url}");
    }
    let urls = [("one.iso", "/a b%/one.iso"), ("latest", "/latest")];
    for (name, path) in urls.map(|(name, path)| (name, format!("{root}{path}"))) {
        let connected = connect(&path, &options).await.unwrap();
        assert_eq!(connected.object.as_deref(), Some(name));
        conformance::check(connected.backend, &[(name.to_owned(), tree[0].1.clone())]).await;
    }
    let encoded = connect(&format!("file://{root}/a%20b%25/one.iso"), &options).await.unwrap();
    assert_eq!(encoded.object.as_deref(), Some("one.iso"));
}

#[tokio::test]
async fn a_failed_connection_names_its_reason() {
    let anonymous = ConnectOptions::default().with_anonymous(true);
    let direct = ConnectOptions::default().with_direct(true);
    let plain = ConnectOptions::default();
    for (url, options, kind, word) in [
        ("/no/such/place", &plain, ErrorKind::NotFound, "/no/such/place"),
        ("", &plain, ErrorKind::Invalid, "empty"),
        ("ftp://host/file", &plain, ErrorKind::Invalid, "s3://"),
        ("file://host/file", &plain, ErrorKind::Invalid, "three slashes"),
        ("http://", &plain, ErrorKind::Invalid, "http://"),
        ("/tmp", &anonymous, ErrorKind::Invalid, "anonymous"),
        ("http://localhost/", &direct, ErrorKind::Invalid, "direct"),
    ] {
        let error = connect(url, options).await.unwrap_err();
        assert_eq!(error.kind, kind, "{url}: {error}");
        assert!(error.message.contains(word), "{url}: {error}");
    }
}

#[tokio::test]
async fn the_url_says_where_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let backend = FileBackend::new(directory.path()).unwrap();
    assert_eq!(backend.url(), format!("file://{}", directory.path().display()));
}
