//! The object backend against an S3 server on this machine.

mod buckets;

use std::time::Duration;

use buckets::serve;
use forerun_backend::{
    ConnectOptions, Connected, Environment, ErrorKind, Result, RetryOptions, conformance, connect,
};

/// A bucket `bucket` filled with the sample tree below `data/`.
async fn bucket() -> (tempfile::TempDir, String) {
    let root = tempfile::tempdir().unwrap();
    for (path, bytes) in conformance::sample_tree() {
        let file = root.path().join("bucket/data").join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
    }
    let endpoint = serve(root.path()).await;
    (root, endpoint)
}

fn options(endpoint: &str, variables: &[(&str, &str)]) -> ConnectOptions {
    let always = [("AWS_EC2_METADATA_DISABLED", "true"), ("HOME", "/nowhere")];
    ConnectOptions::default()
        .with_endpoint((!endpoint.is_empty()).then(|| endpoint.to_owned()))
        .with_environment(Environment::of(always.iter().chain(variables).copied()))
        .with_retry(RetryOptions::default().with_backoff_first(Duration::from_millis(1)))
}

const KEYS: [(&str, &str); 2] = [("AWS_ACCESS_KEY_ID", "id"), ("AWS_SECRET_ACCESS_KEY", "key")];

async fn check_error(url: &str, options: &ConnectOptions, kind: ErrorKind, words: &[&str]) {
    let error = connect(url, options).await.expect_err(url);
    assert_eq!(error.kind, kind, "{url}: {error}");
    for word in words {
        assert!(error.message.contains(word), "{url}: no {word:?} in: {error}");
    }
}

#[tokio::test]
async fn a_prefix_conforms() {
    let (_root, endpoint) = bucket().await;
    for url in ["s3://bucket/data", "s3://bucket/data/"] {
        let Connected { backend, object, .. } = connect(url, &options(&endpoint, &KEYS)).await.unwrap();
        assert_eq!(object, None);
        conformance::check(backend, &conformance::sample_tree()).await;
    }
}

#[tokio::test]
async fn one_object_conforms() {
    let (_root, endpoint) = bucket().await;
    for (name, bytes) in conformance::sample_tree() {
        let url = format!("s3://bucket/data/{name}");
        let Connected { backend, object, .. } = connect(&url, &options(&endpoint, &KEYS)).await.unwrap();
        let name = name.rsplit('/').next().unwrap();
        assert_eq!(object.as_deref(), Some(name));
        conformance::check(backend, &[(name.to_owned(), bytes)]).await;
    }
}

#[tokio::test]
async fn a_replaced_object_is_changed() -> Result<()> {
    let (root, endpoint) = bucket().await;
    let Connected { backend, .. } = connect("s3://bucket", &options(&endpoint, &KEYS)).await?;
    let entry = backend.stat("data/readme.txt").await?;
    std::fs::write(root.path().join("bucket/data/readme.txt"), "hello, writer\n").unwrap();
    let error = conformance::fetch(&*backend, &entry, 0..5).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Changed, "{error}");
    Ok(())
}

#[tokio::test]
async fn a_profile_and_the_environment_give_endpoint_and_credentials() {
    let (root, endpoint) = bucket().await;
    let file = root.path().join("credentials");
    let profile = "[local]\naws_access_key_id = id\naws_secret_access_key = key\nendpoint_url = ";
    std::fs::write(&file, format!("{profile}{endpoint}\n")).unwrap();
    let file = ("AWS_SHARED_CREDENTIALS_FILE", file.to_str().unwrap());
    connect("s3://bucket/data/", &options("", &[file, ("AWS_PROFILE", "local")])).await.unwrap();
    let named = options("", &[file, ("AWS_ACCESS_KEY_ID", "other")]).with_profile(Some("local".to_owned()));
    connect("s3://bucket/data/", &named).await.unwrap();
    let variables = [KEYS[0], KEYS[1], ("AWS_ENDPOINT_URL", &endpoint)];
    connect("s3://bucket/data/", &options("", &variables)).await.unwrap();
    let missing = options(&endpoint, &[file]).with_profile(Some("missing".to_owned()));
    check_error("s3://bucket", &missing, ErrorKind::Invalid, &["no profile \"missing\""]).await;
}

#[tokio::test]
async fn a_failed_connection_names_its_reason() {
    let (_root, endpoint) = bucket().await;
    let good = options(&endpoint, &KEYS);
    check_error("s3://nobucket", &good, ErrorKind::NotFound, &["s3://nobucket", "NoSuchBucket", &endpoint])
        .await;
    check_error("s3://bucket/nothing", &good, ErrorKind::NotFound, &["s3://bucket/nothing", "\"nothing\""])
        .await;
    check_error("s3://bucket/nothing/", &good, ErrorKind::NotFound, &["nothing"]).await;
    let none = options(&endpoint, &[]);
    check_error("s3://bucket", &none, ErrorKind::Denied, &["AWS_ACCESS_KEY_ID", "--anonymous", "--profile"])
        .await;
    let wrong = options(&endpoint, &[KEYS[0], ("AWS_SECRET_ACCESS_KEY", "wrong")]);
    check_error(
        "s3://bucket",
        &wrong,
        ErrorKind::Denied,
        &["SignatureDoesNotMatch", "AWS_SECRET_ACCESS_KEY"],
    )
    .await;
    let unknown = options(&endpoint, &[("AWS_ACCESS_KEY_ID", "who"), KEYS[1]]);
    check_error("s3://bucket", &unknown, ErrorKind::Denied, &["s3://bucket", "--anonymous"]).await;
    let anonymous = options(&endpoint, &[]).with_anonymous(true);
    check_error("s3://bucket/data/", &anonymous, ErrorKind::Denied, &["AccessDenied"]).await;
    check_error("s3://bucket", &options("localhost:9000", &KEYS), ErrorKind::Invalid, &["http://host:port"])
        .await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let words = ["--endpoint", &nobody, "gave up after 6 tries", "refused"];
    check_error("s3://bucket", &options(&nobody, &KEYS), ErrorKind::Unreachable, &words).await;
}

#[tokio::test]
async fn other_stores_ask_for_their_own_credentials() {
    let (_root, endpoint) = bucket().await;
    let azure = options(&endpoint, &[]);
    check_error("az://container", &azure, ErrorKind::Invalid, &["AZURE_STORAGE_ACCOUNT_NAME"]).await;
    // The S3 server refuses other signatures than its own. That proves that the clients are built
    // and used.
    let bearer = options(&endpoint, &[("GOOGLE_BEARER_TOKEN", "t")]);
    let anonymous = bearer.with_anonymous(true);
    check_error("gs://bucket/data/", &anonymous, ErrorKind::Denied, &["GOOGLE_APPLICATION_CREDENTIALS"])
        .await;
    let account = options(&endpoint, &[("AZURE_STORAGE_ACCOUNT_NAME", "account")]);
    let anonymous = account.with_anonymous(true);
    let error = connect("az://bucket/data/", &anonymous).await.unwrap_err();
    assert!(error.message.contains("az://bucket/data/"), "{error}");
}

#[tokio::test]
async fn the_environment_is_not_shown() {
    let shown = format!("{:?}", options("http://host", &[("AWS_SECRET_ACCESS_KEY", "hidden")]));
    assert!(shown.contains("AWS_SECRET_ACCESS_KEY") && !shown.contains("hidden"), "{shown}");
}
