//! TLS, as far as tests reach without a certificate that this machine trusts.

use std::sync::Arc;
use std::time::Duration;

use forerun_backend::{ConnectOptions, Environment, ErrorKind, RetryOptions, connect};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::Acceptor;
use tokio::net::TcpListener;
use tokio_rustls::LazyConfigAcceptor;

/// A server with a self-signed certificate; its host and port. It refuses clients that offer more
/// than HTTP/1.1: a client without HTTP/2 cannot be attacked through it.
async fn serve() -> String {
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(own.signing_key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![own.cert.into()], key).unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("localhost:{}", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            let hello = LazyConfigAcceptor::new(Acceptor::default(), connection).await.unwrap();
            let protocols: Vec<_> = hello.client_hello().alpn().unwrap().collect();
            assert_eq!(protocols, [b"http/1.1"]);
            // The client hangs up in the handshake.
            assert!(hello.into_stream(config.clone()).await.is_err());
        }
    });
    address
}

#[tokio::test]
async fn a_certificate_that_is_not_trusted_is_no_passing_trouble() {
    let address = serve().await;
    let retry = RetryOptions::default().with_backoff_first(Duration::from_secs(3600));
    let web = ConnectOptions::default().with_retry(retry);
    let keys = [("AWS_ACCESS_KEY_ID", "id"), ("AWS_SECRET_ACCESS_KEY", "key"), ("HOME", "/nowhere")];
    let store =
        web.clone().with_endpoint(Some(format!("https://{address}"))).with_environment(Environment::of(keys));
    for (url, options) in [(format!("https://{address}/dir/"), &web), ("s3://bucket".to_owned(), &store)] {
        let error = connect(&url, options).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Permanent, "{error}");
        assert!(error.message.contains("certificate is not trusted"), "{error}");
    }
}
