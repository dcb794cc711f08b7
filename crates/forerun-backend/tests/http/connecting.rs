//! URLs that cannot be connected, and the messages.

use forerun_backend::{ConnectOptions, ErrorKind, connect};

use super::{connect_error, site};

#[tokio::test]
async fn a_failed_connection_names_its_reason() {
    let (server, ..) = site().await;
    let missing = connect_error(&server.url("dir/nothing")).await;
    assert_eq!(missing.kind, ErrorKind::NotFound, "{missing}");
    assert!(missing.message.contains(&server.url("dir/nothing")), "{missing}");
    assert_eq!(connect_error(&server.url("nowhere/")).await.kind, ErrorKind::NotFound);
    server.behave(|manners| manners.always = Some(401));
    let denied = connect_error(&server.url("dir/")).await;
    assert!(denied.kind == ErrorKind::Denied && denied.message.contains("user:password@"), "{denied}");
    server.behave(|manners| manners.always = Some(503));
    let storm = connect_error(&server.url("dir/")).await;
    assert!(storm.kind == ErrorKind::Busy && storm.message.contains("gave up after 6 tries"), "{storm}");
    server.behave(|manners| (manners.always, manners.compresses) = (None, true));
    let compressed = connect_error(&server.url("dir/a%20b%25.bin")).await;
    assert!(compressed.message.contains("Content-Encoding gzip"), "{compressed}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    for scheme in ["http", "https"] {
        let url = format!("{scheme}://user:secret@{address}/dir/");
        let error = connect_error(&url).await;
        assert_eq!(error.kind, ErrorKind::Unreachable, "{error}");
        assert!(
            error.message.contains("refused") && error.message.contains("gave up after 6 tries"),
            "{error}"
        );
        assert!(!error.message.contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn object_store_options_are_refused() {
    let options = ConnectOptions::default().with_region(Some("eu".to_owned()));
    let error = connect("http://localhost/", &options).await.unwrap_err();
    assert!(error.kind == ErrorKind::Invalid && error.message.contains("a region was given"), "{error}");
}
