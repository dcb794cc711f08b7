//! Certificates of a server and of a client.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use forerun_serve::Tls;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use tempfile::TempDir;

type Authority = CertifiedIssuer<'static, KeyPair>;

/// PEM files of a server and of a client, each with an authority of its own.
pub(crate) struct Certificates(TempDir);

impl Certificates {
    pub(crate) fn new() -> Certificates {
        let folder = tempfile::tempdir().unwrap();
        for name in ["server", "client"] {
            let mut params = CertificateParams::new(Vec::new()).unwrap();
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            let authority: Authority =
                CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
            let key = KeyPair::generate().unwrap();
            let own = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
            let own = own.signed_by(&key, &authority).unwrap();
            write(&folder.path().join(format!("{name}-ca.pem")), "CERTIFICATE", authority.der());
            write(&folder.path().join(format!("{name}.pem")), "CERTIFICATE", own.der());
            write(&folder.path().join(format!("{name}-key.pem")), "PRIVATE KEY", &key.serialize_der());
        }
        Certificates(folder)
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The authority that a client believes, and its own certificate if it has one.
    pub(crate) fn client(&self, has_own: bool) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(self.at("server-ca.pem")).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = config.with_root_certificates(roots);
        if !has_own {
            return config.with_no_client_auth();
        }
        let own = CertificateDer::from_pem_file(self.at("client.pem")).unwrap();
        let key = PrivateKeyDer::from_pem_file(self.at("client-key.pem")).unwrap();
        config.with_client_auth_cert(vec![own], key).unwrap()
    }

    /// The server's part, which admits clients with a certificate only, if `client_ca`.
    pub(crate) fn server(&self, client_ca: bool) -> Tls {
        let client_ca = client_ca.then(|| self.at("client-ca.pem"));
        Tls::load(&self.at("server.pem"), &self.at("server-key.pem"), client_ca.as_deref()).unwrap()
    }
}

fn write(path: &Path, label: &str, der: &[u8]) {
    let body = BASE64_STANDARD.encode(der);
    let lines: Vec<&str> = body.as_bytes().chunks(64).map(|line| str::from_utf8(line).unwrap()).collect();
    fs::write(path, format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n")))
        .unwrap();
}
