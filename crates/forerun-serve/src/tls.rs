//! TLS of connections.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forerun::{Error, ErrorKind, Result};
use parking_lot::Mutex;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use crate::listener::Stream;

/// The certificate of a server, and the clients that it admits. Clones share them.
#[derive(Clone)]
pub struct Tls {
    files: Arc<Files>,
    /// For the clients that begin from now on.
    config: Arc<Mutex<Arc<ServerConfig>>>,
}

/// PEM files.
struct Files {
    /// The server's certificate first.
    certificates: PathBuf,
    key: PathBuf,
    client_ca: Option<PathBuf>,
}

impl Tls {
    /// With the certificates (the server's first) and the private key in these PEM files. If
    /// `client_ca` is given, only clients with a certificate of one of its authorities are admitted.
    ///
    /// # Errors
    /// If a file cannot be read, or if the certificates and the key do not fit.
    pub fn load(certificate: &Path, key: &Path, client_ca: Option<&Path>) -> Result<Tls> {
        let files = Files {
            certificates: certificate.to_owned(),
            key: key.to_owned(),
            client_ca: client_ca.map(Path::to_owned),
        };
        let config = Arc::new(Mutex::new(Arc::new(files.read()?)));
        Ok(Tls { files: Arc::new(files), config })
    }

    /// Reads the files again. Clients that begin TLS after this get the new certificate, and others keep the old one.
    ///
    /// # Errors
    /// As [`Tls::load`]. All is then as before.
    pub fn reload(&self) -> Result<()> {
        let mut config = self.files.read()?;
        let mut current = self.config.lock();
        config.alpn_protocols.clone_from(&current.alpn_protocols);
        *current = Arc::new(config);
        Ok(())
    }

    /// The same for clients that choose one of `protocols`, the best first, for what they send over TLS.
    pub(crate) fn with_protocols(self, protocols: &[&str]) -> Tls {
        let protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        Arc::make_mut(&mut self.config.lock()).alpn_protocols = protocols;
        self
    }

    /// The same connection, encrypted.
    ///
    /// # Errors
    /// If the client does not agree, or is not admitted.
    pub(crate) async fn accept(&self, stream: Box<dyn Stream>) -> io::Result<Box<dyn Stream>> {
        let acceptor = TlsAcceptor::from(Arc::clone(&self.config.lock()));
        Ok(Box::new(acceptor.accept(stream).await?))
    }
}

impl Files {
    fn read(&self) -> Result<ServerConfig> {
        let Files { certificates: certificate, key, client_ca } = self;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let unfit = |error: rustls::Error| {
            let [certificate, key] = [certificate, key].map(|path| path.display());
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
        config.with_single_cert(certificates(certificate)?, private).map_err(unfit)
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
