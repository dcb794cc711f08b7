//! The options of TLS.

use std::path::PathBuf;

use forerun_serve::Tls;

/// Whether and how clients begin TLS.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct TlsOptions {
    /// Serve only clients that begin TLS, with the server's certificate in the PEM file
    ///
    /// The certificates of authorities between may follow it.
    #[arg(long = "tls-certificate", value_name = "PEM", requires = "tls_key", id = "tls_certificate")]
    certificate: Option<PathBuf>,

    /// The private key of the certificate
    #[arg(long = "tls-key", value_name = "PEM", requires = "tls_certificate", id = "tls_key")]
    key: Option<PathBuf>,

    /// Admit only clients that have a certificate of an authority in the PEM file
    #[arg(long = "tls-client-ca", value_name = "PEM", requires = "tls_certificate", id = "tls_client_ca")]
    client_ca: Option<PathBuf>,
}

impl TlsOptions {
    /// The certificate, if there is one.
    ///
    /// # Errors
    /// If a file cannot be read, or if the certificates and the key do not fit.
    pub(crate) fn load(&self) -> forerun::Result<Option<Tls>> {
        let (Some(certificate), Some(key)) = (&self.certificate, &self.key) else { return Ok(None) };
        Tls::load(certificate, key, self.client_ca.as_deref()).map(Some)
    }

    /// Whether clients have to begin TLS.
    pub(crate) fn is_on(&self) -> bool {
        self.certificate.is_some()
    }

    /// Whether clients need a certificate.
    pub(crate) fn admits_few(&self) -> bool {
        self.client_ca.is_some()
    }
}
