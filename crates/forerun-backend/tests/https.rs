//! TLS, as far as it can be tested without a certificate that this machine trusts.

use std::sync::Arc;
use std::time::Duration;

use forerun_backend::{ConnectOptions, Environment, ErrorKind, RetryOptions, connect};
use rustls::pki_types::PrivateKeyDer;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// A server with a certificate that nobody signed; its host and port.
async fn serve() -> String {
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(own.signing_key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![own.cert.into()], key).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("localhost:{}", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            // The client hangs up in the handshake.
            assert!(acceptor.accept(connection).await.is_err());
        }
    });
    address
}

#[tokio::test]
async fn a_certificate_that_is_not_trusted_is_no_passing_trouble() {
    let address = serve().await;
    let retry = RetryOptions { backoff_first: Duration::from_secs(3600), ..RetryOptions::default() };
    let web = ConnectOptions { retry, ..ConnectOptions::default() };
    let keys = [("AWS_ACCESS_KEY_ID", "id"), ("AWS_SECRET_ACCESS_KEY", "key"), ("HOME", "/nowhere")];
    let store = ConnectOptions {
        endpoint: Some(format!("https://{address}")),
        environment: Environment::of(keys),
        ..web.clone()
    };
    for (url, options) in [(format!("https://{address}/dir/"), &web), ("s3://bucket".to_owned(), &store)] {
        let error = connect(&url, options).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Permanent, "{error}");
        assert!(error.message.contains("certificate is not trusted"), "{error}");
    }
}
