//! TLS of connections.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use forerun::{Error, ErrorKind, Result};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use crate::listener::Stream;

/// The certificate of a server, and the clients that it admits.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
}

impl Tls {
    /// With the certificates (the server's first) and the private key in these PEM files. If
    /// `client_ca` is given, only clients with a certificate of one of its authorities are admitted.
    ///
    /// # Errors
    /// If a file cannot be read, or if the certificates and the key do not fit.
    pub fn load(certificate: &Path, key: &Path, client_ca: Option<&Path>) -> Result<Tls> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let unfit = |error: rustls::Error| {
            let [certificate, key] = [certificate, key].map(Path::display);
            invalid(format!(
                "the certificate {certificate} with the key {key} cannot be used: {error}; give both of one server"
            ))
        };
        let config = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let config = config.with_safe_default_protocol_versions().map_err(unfit)?;
        let config = match client_ca {
            None => config.with_no_client_auth(),
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for authority in certificates(path)? {
                    roots.add(authority).map_err(|error| unusable(path, &error))?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
                config.with_client_cert_verifier(verifier.map_err(|error| unusable(path, &error))?)
            }
        };
        let private =
            PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable(key, "private key", &error))?;
        let config = config.with_single_cert(certificates(certificate)?, private).map_err(unfit)?;
        Ok(Tls { config: Arc::new(config) })
    }

    /// The same for clients that choose one of `protocols`, the best first, for what they send over TLS.
    pub(crate) fn with_protocols(self, protocols: &[&str]) -> Tls {
        let mut config = Arc::unwrap_or_clone(self.config);
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        Tls { config: Arc::new(config) }
    }

    /// The same connection, encrypted.
    ///
    /// # Errors
    /// If the client does not agree, or is not admitted.
    pub(crate) async fn accept(&self, stream: Box<dyn Stream>) -> io::Result<Box<dyn Stream>> {
        let acceptor = TlsAcceptor::from(Arc::clone(&self.config));
        Ok(Box::new(acceptor.accept(stream).await?))
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

/// All certificates of the file `path`, which has some.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let found =
        CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>);
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(unreadable(path, "certificate", &pem::Error::NoItemsFound)),
        Err(error) => Err(unreadable(path, "certificate", &error)),
    }
}

fn unreadable(path: &Path, what: &str, error: &pem::Error) -> Error {
    invalid(format!("{}: no {what} can be read: {error}; give a PEM file with one", path.display()))
}

fn unusable(path: &Path, error: &dyn fmt::Display) -> Error {
    invalid(format!(
        "{}: the authority cannot be used: {error}; give a PEM file with its certificate",
        path.display()
    ))
}

fn invalid(message: String) -> Error {
    Error::new(ErrorKind::Invalid, message)
}
